"""The parts of the campaign by name: each yields cases and their outcomes."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.campaign import (
    bad_inputs,
    bad_parameters,
    functions,
    interrupts,
    invariants,
    pieces,
    precision,
    scales,
)

PARTS: dict[str, Callable[[Any], Iterator[tuple[str, str]]]] = {
    "inputs": bad_inputs.cases,
    "parameters": bad_parameters.cases,
    "pieces": pieces.cases,
    "invariants": invariants.cases,
    "scales": scales.cases,
    "precision": precision.cases,
    "functions": functions.cases,
    "interrupts": interrupts.cases,
}
