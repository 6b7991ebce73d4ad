"""The pages of kept results, written anew: ``python docs/published.py``."""

from pathlib import Path

from isthmus_experiments import coverage, list_experiments
from isthmus_experiments.kept.record import read_records
from isthmus_experiments.kept.site import published_pages

DOCS = Path(__file__).parent


def main() -> None:
    """Write ``docs/published.md`` and ``docs/published`` from ``experiments/results``."""
    experiments = list_experiments()
    records = read_records(DOCS.parent / "experiments" / "results")
    for path, text in published_pages(records, experiments, coverage(experiments)).items():
        (DOCS / path).parent.mkdir(exist_ok=True)
        (DOCS / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
