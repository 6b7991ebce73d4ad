"""``python -m benchmarks.manifolds``: all manifold methods beside the usual ones, on ten sets.

Each cell (draw, set, method) fits a few hundred rows and is judged by as many new ones. Cells are
kept in a file as they end, so that a run that was stopped goes on; draws are the outer loop. The
page is written from the cells that there are, and says how many draws each figure has.
"""

import argparse
import json
import os
import time
import warnings
from datetime import date
from pathlib import Path

import numpy as np

from benchmarks.manifold_methods import METHODS
from isthmus.datasets import (
    DataNotAvailable,
    load_oilflow,
    load_olivetti,
    load_unmixing,
    load_usps,
    make_fish_bowl,
    make_half_circle,
    make_noisy_spiral,
    make_noisy_swiss_roll,
)
from isthmus.manifold import neighborhood_scores

PAGE = Path(__file__).parent / "results" / "manifolds.md"
CELLS = Path(__file__).parents[1] / "build" / "manifolds.jsonl"
N_ROWS, N_DRAWS = 120, 5
WARM: set[tuple[str, int]] = set()  # methods that have been called, by latent dimensions


def half_circle(seed):
    return *make_half_circle(2 * N_ROWS, noise=0.5, random_state=seed), 1


def spiral(seed):
    return *make_noisy_spiral(2 * N_ROWS, noise=0.05, random_state=seed), 1


def swiss_roll(seed):
    return *make_noisy_swiss_roll(4 * N_ROWS, noise=0.2, height=12, random_state=seed), 2


def holed_roll(seed):
    X, T = make_noisy_swiss_roll(8 * N_ROWS, noise=0.2, height=12, random_state=seed)
    middle, reach = T.mean(axis=0), 0.25 * np.ptp(T, axis=0)
    kept = np.flatnonzero(np.any(np.abs(T - middle) > reach, axis=1))[: 4 * N_ROWS]
    return X[kept], T[kept], 2


def fish_bowl(seed):
    return *make_fish_bowl(2 * N_ROWS, random_state=seed), 2


def some_rows(X, seed):
    chosen = np.random.default_rng(seed).permutation(len(X))[: 2 * N_ROWS]
    return np.asarray(X[chosen], dtype=float), None, 2


def oil_flow(seed):
    data = load_oilflow()
    return some_rows(np.vstack([data.X_train, data.X_test]), seed)


def digits(seed):
    from sklearn.datasets import load_digits

    return some_rows(load_digits().data, seed)


def usps(seed):
    return some_rows(load_usps().X_train, seed)


def faces(seed):
    images = load_olivetti().images
    small = images.reshape(len(images), 16, 4, 16, 4).mean(axis=(2, 4))
    return some_rows(small.reshape(len(images), -1), seed)


def spectra(seed):
    return some_rows(load_unmixing().X, seed)


SETS = {
    "half circle": half_circle,
    "spiral": spiral,
    "Swiss roll": swiss_roll,
    "roll with a hole": holed_roll,
    "fish bowl": fish_bowl,
    "oil flow": oil_flow,
    "digits": digits,
    "USPS": usps,
    "Olivetti faces": faces,
    "spectra": spectra,
}


def explained(T, Z):
    """Share of the variance of true coordinates that is an affine function of found ones."""
    T = np.asarray(T, dtype=float).reshape(len(Z), -1)
    A = np.column_stack([np.ones(len(Z)), Z])
    gaps = T - A @ np.linalg.lstsq(A, T, rcond=None)[0]
    return float(np.mean(1 - gaps.var(axis=0) / T.var(axis=0)))


def run_cell(method, name, draw):
    """What one method makes of one draw of a set: a dict of numbers, or why there is none."""
    try:
        X, T, q = SETS[name](draw)
    except DataNotAvailable:
        return {"skipped": "the data are not on this machine"}
    order = np.random.default_rng(draw).permutation(len(X))
    old, new = order[: len(X) // 2], order[len(X) // 2 :]
    train, test = X[old], X[new]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if (method, q) not in WARM:  # loops are compiled, and that is not counted
                METHODS[method](q, draw, train)
                WARM.add((method, q))
            begin = time.process_time()
            model = METHODS[method](q, draw, train)
            if model is None:
                return {"skipped": "one dimension only" if q > 1 else "two dimensions only"}
            found = {"seconds": time.process_time() - begin}
            if model.places is not None:
                found["area"] = neighborhood_scores(train, model.places).area
                if T is not None:
                    found["recovery"] = explained(np.asarray(T)[old], model.places)
            if model.transform is not None:
                found["new_area"] = neighborhood_scores(test, model.transform(test)).area
            if model.reconstruct is not None:
                gaps = np.sum((model.reconstruct(test) - test) ** 2)
                found["lost"] = float(gaps / np.sum((test - train.mean(axis=0)) ** 2))
        except ImportError as error:
            return {"skipped": f"{error.name} is not installed"}
        except Exception as error:  # a peer may refuse: that is a result, and is shown
            return {"failed": f"{type(error).__name__}: {error}"[:200]}
    return found


def read_cells(path):
    """Cells by (draw, set, method)."""
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {(row["draw"], row["set"], row["method"]): row for row in rows}


def run(path, sets, methods, n_draws, limit):
    """Run the cells that are not there yet, until the time is up."""
    path.parent.mkdir(exist_ok=True)
    cells, begin = read_cells(path), time.time()
    for draw in range(n_draws):
        for name in sets:
            for method in methods:
                if (draw, name, method) in cells:
                    continue
                if time.time() - begin > limit:
                    return
                row = {"draw": draw, "set": name, "method": method}
                row |= run_cell(method, name, draw)
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")


MEASURES = {
    "lost": ("variance of new rows lost, per cent", 100.0),
    "area": ("area under R_NX of training rows", 1.0),
    "new_area": ("area under R_NX of new rows, placed by the fitted model", 1.0),
    "recovery": ("share of the true coordinates that is an affine function of those found", 1.0),
    "seconds": ("CPU seconds of a fit", 1.0),
}


def table(cells, measure, factor):
    """A table of means and deviations; a row is a method and a column a set."""
    sets = [s for s in SETS if any(s == key[1] and measure in cells[key] for key in cells)]
    lines = ["| method | " + " | ".join(sets) + " |", "|---" * (len(sets) + 1) + "|"]
    for method in METHODS:
        shown = []
        for name in sets:
            rows = [cells[k] for k in cells if k[1] == name and k[2] == method]
            values = [factor * row[measure] for row in rows if measure in row]
            if values:
                digits = 2 if factor == 1.0 else 1
                mean, deviation = np.mean(values), np.std(values)
                shown.append(f"{mean:.{digits}f} ± {deviation:.{digits}f}")
            else:
                shown.append("failed" if any("failed" in row for row in rows) else "–")
        if any(text != "–" for text in shown):
            lines.append(f"| {method} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def write_page(cells, page):
    """The page of all tables, with what was skipped and what failed."""
    draws = sorted({key[0] for key in cells})
    whole = [d for d in draws if sum(k[0] == d for k in cells) == len(SETS) * len(METHODS)]
    parts = [
        "# Manifold methods, side by side",
        f"`python -m benchmarks.manifolds`, {date.today()}, one thread, shared machine. At most "
        f"{N_ROWS} rows ({2 * N_ROWS} of rolls) are fitted in each cell and as many new ones "
        f"judged; means and standard deviations over the draws that ran ({len(whole)} of "
        f"{N_DRAWS} complete). Curves have one "
        "latent dimension, all else two. Every method has its defaults, chosen without looking at "
        "new rows.",
    ]
    for measure, (title, factor) in MEASURES.items():
        parts += [f"## {title[0].upper()}{title[1:]}", table(cells, measure, factor)]
    notes = sorted(
        {
            f"- {k[2]}, {k[1]}: {row.get('skipped') or row.get('failed')}"
            for k, row in cells.items()
            if "skipped" in row or "failed" in row
        }
    )
    parts += ["## Skipped and failed", "\n".join(notes) or "Nothing."]
    page.write_text("\n\n".join(parts) + "\n")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.manifolds")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--draws", type=int, default=N_DRAWS)
    parser.add_argument("--minutes", type=float, default=60.0, help="end after so many minutes")
    parser.add_argument("--cells", type=Path, default=CELLS, help="where cells are kept")
    parser.add_argument("--page", type=Path, default=PAGE)
    given = parser.parse_args(arguments)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    run(given.cells, given.sets, given.methods, given.draws, 60 * given.minutes)
    write_page(read_cells(given.cells), given.page)


if __name__ == "__main__":
    main()
