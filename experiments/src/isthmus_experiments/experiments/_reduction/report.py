"""What a table of errors over components says, published and ours."""

import numpy as np
from scipy.stats import ttest_rel

from isthmus.plotting import curves
from isthmus_experiments import Outcome, Picture, Row
from isthmus_experiments.experiments._reduction.kernels import MAX_ROWS
from isthmus_experiments.experiments._reduction.tables import (
    ALL,
    CROSSFITTED,
    MEAN,
    OTHERS,
    OURS,
    PROJECTION,
    PUBLISHED,
    STACKED_ALL,
    TRUE,
    stacked_name,
)

# Our reading where the error rises with the number of components.
FURTHER_COMPONENTS = (
    "the outputs have one column, which the first components predict; a further one adds the "
    "error of its own prediction"
)
COMPONENTS = (3, 5, 7, 9, 11)
TOLERANCE = 0.10
CONSTANT = (
    "; the published error is no better than that of guessing the mean of these data, so that its "
    "target or unit must be another one"
)
NOTE = (
    f"{OURS} is the closed form; outputs in the coordinates of new rows are predicted by a "
    'weighted sum of kernel regressions and trees (regressor="stacked"), where the document has '
    "support vector regression. The rivals are projections, which need no such prediction; the "
    "last regression is the same for all. What the sum of regressions does alone is shown on all "
    f"columns, and behind the most components of each rival. gKDR, SCA and LSDR see {MAX_ROWS} "
    "rows at most, chosen at random, because their cost is cubic in them."
)


def outcome(errors, components, table, notes, *, scale=1.0, unit="", same_size=True, extra=()):
    """Rows, the picture and notes of one set.

    ``table`` has the published errors over :data:`COMPONENTS` by method; ``scale`` turns our
    errors into their units. ``same_size`` is False where we have fewer rows than the document.
    """
    means = {name: scale * e.mean(axis=1) for name, e in errors.items()}
    known = {
        name: [values[COMPONENTS.index(d)] for d in components] for name, values in table.items()
    }
    rivals = [name for name in PUBLISHED[1:] if name in means]
    rows = [
        *_value_rows(errors, means, known, components, unit, same_size, scale),
        _order_row(means, known, rivals, components),
        _peer_row(errors, means, components),
        _falling_row(means, components),
        _reference_row(means, known, rivals, components, unit),
    ]
    if STACKED_ALL in means:
        rows.append(_control_row(means, components))
    if CROSSFITTED in means:
        rows.append(_crossfit_row(means))
    for name in (TRUE, PROJECTION):
        if name in means:
            rows.append(
                Row(
                    f"{name}: RMSE at d = {_listed(components)}",
                    None,
                    _numbers(means[name]),
                    f"{OURS} has {_numbers(means[OURS])}; better than it at "
                    f"{int(np.sum(means[name] < means[OURS]))} of {len(components)} d",
                )
            )
    rows += extra
    panels = {"published": known} if known else {}
    panels["ours"] = {name: list(means[name]) for name in PUBLISHED if name in means}
    return Outcome(
        rows,
        [
            Picture(
                "errors",
                "Test RMSE over the number of components; the published values, and ours with the "
                "same regression behind every reduction. All columns: "
                f"{means[ALL][0]:.4g}, mean of the training rows: {means[MEAN][0]:.4g}.",
                lambda: curves(
                    {
                        title: {name: (components, values) for name, values in panel.items()}
                        for title, panel in panels.items()
                    },
                    xlabel="components",
                    ylabel=f"RMSE {unit}".strip(),
                    marker="o",
                ),
            )
        ],
        [*notes, NOTE],
    )


def _value_rows(errors, means, known, components, unit, same_size, scale):
    """One row per published cell: ours and the rivals', with the deviation over the folds."""
    for name, published in known.items():
        if name not in means:
            continue
        for k, d in enumerate(components):
            ours, value = means[name][k], published[k]
            near = abs(ours / value - 1) <= TOLERANCE
            verdict = f"{ours / value - 1:+.0%} of the published value"
            n_folds = errors[name].shape[1]
            spread = scale * errors[name][k].std(ddof=1) if n_folds > 1 else 0.0
            if not same_size:
                verdict += "; on fewer rows, so it is not held against it"
            elif n_folds == 1:
                verdict += "; a single fold is not judged"
            elif not near:
                error = spread / np.sqrt(n_folds) / value
                if value >= means[MEAN][0]:
                    verdict += CONSTANT
                verdict += _reading(name, abs(ours / value - 1) <= 2 * error, error)
            yield Row(
                f"{name}, d = {d}: RMSE {unit}".strip(),
                value,
                f"{ours:.4g} ± {spread:.2g}" if n_folds > 1 else f"{ours:.4g}",
                verdict,
                bool(near) if same_size and n_folds > 1 else None,
            )


def _reading(name, chance, error):
    """Why a cell may differ from the published one."""
    if chance:
        return (
            f"; the standard error over the folds is {error:.0%}, but folds differ by their rows, "
            "which every partition shares"
        )
    if name == OURS:
        return "; more than two standard errors of the folds"
    return (
        "; more than two standard errors of the folds. The document does not say how many slices, "
        "widths and penalties the rivals had"
    )


def _order_row(means, known, rivals, components):
    best = [min(rivals, key=lambda name: means[name][k]) for k in range(len(components))]
    won = [bool(means[OURS][k] < means[name][k]) for k, name in enumerate(best)]
    table = "; ".join(
        f"d = {d}: {means[OURS][k]:.4g} against {means[name][k]:.4g} ({name})"
        for k, (d, name) in enumerate(zip(components, best, strict=True))
    )
    return Row(
        f"{OURS} against the best of {', '.join(rivals)}",
        "best at every d" if known else None,
        f"best at {sum(won)} of {len(components)} d. {table}",
        "the order is as published" if all(won) else "not best everywhere",
        all(won) if known else None,
    )


def _peer_row(errors, means, components):
    peers = [name for name in OTHERS if name in means]
    parts, won = [], 0
    for k, d in enumerate(components):
        name = min(peers, key=lambda peer: means[peer][k])
        ours, theirs = errors[OURS][k], errors[name][k]
        p = ttest_rel(ours, theirs).pvalue if len(ours) > 1 and np.ptp(ours - theirs) > 0 else 1.0
        won += bool(means[OURS][k] < means[name][k])
        parts.append(
            f"d = {d}: {means[OURS][k]:.4g} against {means[name][k]:.4g} ({name}), p = {p:.2g}"
        )
    return Row(
        f"{OURS} against {' and '.join(peers)}, which the document leaves out",
        None,
        "; ".join(parts),
        f"{OURS} is better at {won} of {len(components)} d (p of a paired t-test over the folds, "
        "which share training rows: a guide and no proof)",
    )


def _falling_row(means, components):
    steps = np.diff(means[OURS])
    falls = bool(np.all(steps <= 0.01 * means[OURS][:-1]))
    return Row(
        f"{OURS}: error never rises with d by more than 1 %",
        "falls from 3 to 11",
        _numbers(means[OURS]),
        "nothing to compare at a single d"
        if len(components) == 1
        else "as published"
        if falls
        else "it rises somewhere",
        falls if len(components) > 1 else None,
    )


def _reference_row(means, known, rivals, components, unit):
    mean, plain = means[MEAN][0], means[ALL][0]
    broken = sorted({name for name, values in known.items() for value in values if value >= mean})
    return Row(
        f"references: mean of the training rows, and all columns {unit}".strip(),
        f"worse than the mean: {', '.join(broken)}" if broken else None,
        f"{mean:.4g} and {plain:.4g}; {OURS} at best {means[OURS].min():.4g} "
        f"({means[OURS].min() / plain - 1:+.1%} of all columns)",
        "published entries at or above the error of a constant are broken baselines"
        if broken
        else "better than the same regression on all columns: the regression inside mixes several"
        if means[OURS].min() < 0.98 * plain
        else "no better than the same regression on all columns, to within 2 %",
    )


def _control_row(means, components):
    """Whether the reduction itself helps: the same sum of regressions without it, and elsewhere."""
    ours, plain = means[OURS][-1], means[STACKED_ALL][0]
    rivals = {
        name: means[stacked_name(name)][0]
        for name in means
        if name != ALL and stacked_name(name) in means
    }
    best = min(rivals, key=rivals.__getitem__)
    return Row(
        f"control: the stacked regression on all columns, and behind {components[-1]} components "
        "of each rival",
        None,
        f"all columns {plain:.4g}; "
        + ", ".join(f"{name} {value:.4g}" for name, value in rivals.items())
        + f"; {OURS} {ours:.4g}",
        f"{OURS} is {ours / plain - 1:+.1%} of all columns and {ours / rivals[best] - 1:+.1%} of "
        f"{best}, the best rival with the same stack",
        bool(ours <= min(plain, rivals[best]) * 1.01),
    )


def _crossfit_row(means):
    ours, crossfitted = means[OURS], means[CROSSFITTED]
    wins = int(np.sum(crossfitted < ours))
    return Row(
        "cross-fitting: last regression on predicted instead of optimal coordinates",
        "on optimal ones",
        f"{_numbers(crossfitted)} instead of {_numbers(ours)}",
        f"cross-fitting is better at {wins} of {len(ours)} d",
    )


def _numbers(values):
    return ", ".join(f"{value:.4g}" for value in values)


def _listed(components):
    return ", ".join(map(str, components))
