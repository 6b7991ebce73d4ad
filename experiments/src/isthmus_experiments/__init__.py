"""The tables and figures of the source documents, computed again and compared.

An experiment is one short file in ``isthmus_experiments/experiments``, named after its id; it
registers itself when it is asked for.

>>> from isthmus_experiments import get
>>> get("E-08").document
'[000] 3.3, figures 3.2-3.4'
"""

from isthmus_experiments.coverage.declaration import Covers
from isthmus_experiments.coverage.table import coverage, coverage_text, list_published
from isthmus_experiments.kept.draws import draws
from isthmus_experiments.outcome import Outcome, Picture, Row
from isthmus_experiments.registry import Experiment, experiment, get, list_experiments, list_ids
from isthmus_experiments.runner import Result, exit_code, run

__all__ = [
    "Covers",
    "Experiment",
    "Outcome",
    "Picture",
    "Result",
    "Row",
    "coverage",
    "coverage_text",
    "draws",
    "exit_code",
    "experiment",
    "get",
    "list_experiments",
    "list_ids",
    "list_published",
    "run",
]
