"""The parts of the campaign by name: each yields the cases of a subject with their outcomes."""

from collections.abc import Callable, Iterator

from tests.campaign import bad_inputs, bad_parameters, interrupts, invariants, scales
from tests.campaign.subjects import Subject

PARTS: dict[str, Callable[[Subject], Iterator[tuple[str, str]]]] = {
    "inputs": bad_inputs.cases,
    "parameters": bad_parameters.cases,
    "invariants": invariants.cases,
    "scales": scales.cases,
    "interrupts": interrupts.cases,
}
