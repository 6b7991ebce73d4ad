"""Every table and figure of the source documents, remade: published value, ours, verdict.

An experiment is one short file in ``isthmus/reproduce/experiments``; it registers itself.

>>> from isthmus.reproduce import get
>>> get("E-08").document
'[000] 3.3, figures 3.2-3.4'
"""

from ._outcome import Outcome, Picture, Row
from ._registry import Experiment, experiment, get, list_experiments
from ._runner import Result, exit_code, run

__all__ = [
    "Experiment",
    "Outcome",
    "Picture",
    "Result",
    "Row",
    "exit_code",
    "experiment",
    "get",
    "list_experiments",
    "run",
]
