"""``python -m benchmarks.front``: ratios that the front page quotes, from the pages of results."""

import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.standing import RESULTS, Standing, written

FRONT = Path(__file__).parent.parent / "README.md"
# What the front page calls a piece of work, with its benchmark and the case quoted.
QUOTED = {
    "distance correlation, 5000 rows of 10 and 3 columns": ("dcor-multivariate", "5 000"),
    "HSIC test with permutations, 1000 rows": ("hsic-test", "1 000"),
    "all pairs of 200 series, dynamic time warping": ("dtw-aeon", "200"),
    "pursuit of 10 000 signals": ("omp-sklearn", "10 000"),
    "the same, sparse codes": ("omp-spams", "10 000"),
    "digits on a plane and back": ("manifold-digits", "umap-learn"),
    "kernel PCA, 8000 rows": ("kernel-pca", "8 000"),
    "Gaussian process with one length scale per column, 2000 rows": ("gp-fit-ard", "2 000"),
    "support vectors, 100 000 rows": ("core-svc", "100 000"),
    "centre pixels of 7425 digits by twin processes": ("twin-usps", "kernel ridge"),
}


def quoting(front: str, rows: Iterable[Standing]) -> str:
    """The front page with the ratios of the rows that it quotes."""
    known = {(row.benchmark, row.case): row for row in rows}
    lines = front.split("\n")
    for work, quoted in QUOTED.items():
        row = known[quoted]
        (at,) = (i for i, line in enumerate(lines) if line.startswith(f"| {work} |"))
        cells = lines[at].split(" | ")
        cells[2:4] = [_two_digits(row.ratio), _two_digits(row.default)]
        lines[at] = " | ".join(cells)
    return "\n".join(lines)


def _two_digits(ratio: float) -> str:
    """A ratio as the front page shows it.

    >>> [_two_digits(ratio) for ratio in (0.165, 9.66, 426.3)]
    ['0.17', '9.7', '426']
    """
    return f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}" if ratio >= 0.995 else f"{ratio:.2f}"


def main() -> int:
    text = quoting(FRONT.read_text(encoding="utf-8"), written(RESULTS))
    FRONT.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
