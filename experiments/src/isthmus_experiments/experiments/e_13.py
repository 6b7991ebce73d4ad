"""E-13: a robot arm that imitates a person, from 50 pairs of picture and posture."""

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor

from isthmus.features import KernelPCA
from isthmus.kernels import HistogramIntersection
from isthmus.plotting import curves, imitation_strip
from isthmus.preimage import CandidatePreimage
from isthmus.reduction import compress
from isthmus.regression import ReducedRankRegression
from isthmus.robotics import ImitationModel
from isthmus.robotics.imitation import PENALTIES
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._imitation import (
    ARM,
    BASES,
    STAND_IN,
    direction_errors,
    in_picture,
    pose_features,
    scenes,
)
from isthmus_experiments.experiments._imitation_rows import path_rows, spectrum_rows
from isthmus_experiments.experiments._partial_least_squares import pls_coefficients

NO_PICTURES = "pictures and robot are not available; drawn scenes stand in"
RANKS = range(5, 14)
RANK = 7
LOSS = 0.05
SHARES = (1 / 2, 1 / 3)
MOVING = {"raise": 0, "wave": 3}  # the joint that moves most
PLS, FREE, BRIDGE = "partial least squares", "rank limited, no penalty", "rank limited, penalised"


@experiment(
    "E-13",
    document="[000] 6.3, figures 6.5, 6.7 to 6.9 and 6.12 to 6.14",
    title="Imitation: an arm learns its postures from pictures of a person",
    published=(
        "50 pairs, 500 more frames: 12475 shape contexts, 2000 of them to 80 codewords; 354 skin "
        "pixels, 10 + 10 colour bins; 109 input and 13 output components (95 %); rank 7 by 5-fold "
        "CV over 5 to 13; squared CV error 14.14 +- 1.5 (PLS) and 13.8 +- 1.4 (limited rank); "
        "feature extraction 7 x 500 instead of 109 x 500 operations; 167 of 500 patterns kept. "
        "An actor of other skin gets the neutral pose."
    ),
    covers=[
        Covers(f"000 figure 6.{k}", way="other data", why=NO_PICTURES)
        for k in (5, 7, 8, 9, 12, 13, 14)
    ],
    in_short=(
        "nine coordinates cannot have thirteen linear components; drawn scenes stand in for the "
        "recordings"
    ),
    quick={
        "frames": 80,
        "pairs": 30,
        "test": 40,
        "contexts": 150,
        "words": 30,
        "seeds": 2,
        "steps": 17,
    },
    full={
        "frames": 500,
        "pairs": 50,
        "test": 200,
        "contexts": 2000,
        "words": 80,
        "seeds": 20,
        "steps": 41,
    },
)
def imitation(settings, seed, progress):
    progress(0.0, "frames and their codebook")
    frames = scenes(settings["frames"], seed, 0)
    features = pose_features(frames, settings["words"], settings["contexts"], seed)
    rows = features.fit_transform(frames.images)
    components = KernelPCA(0.95, kernel=HistogramIntersection()).fit(rows)

    errors, variances, n_outputs = {}, {}, {}
    for i in range(settings["seeds"]):
        progress(0.2 + 0.4 * i / settings["seeds"], f"cross-validation {i + 1}")
        pairs = scenes(settings["pairs"], seed, i + 1)
        X = components.transform(features.transform(pairs.images))
        for base, kernel in BASES.items():
            outputs = KernelPCA(0.95, kernel=kernel).fit(pairs.postures)
            n_outputs.setdefault(base, []).append(outputs.n_components_)
            Y = outputs.transform(pairs.postures)
            errors.setdefault(base, []).append(_cv_errors(X, Y, seed + i))
            variances.setdefault(base, []).append(np.var(Y, axis=0).sum())
    tables = {base: _stacked(found) for base, found in errors.items()}

    progress(0.6, "the whole system")
    pairs, test = scenes(settings["pairs"], seed, 1), scenes(settings["test"], seed, 1000)
    model = ImitationModel(ARM, features=FrozenEstimator(features))
    model.fit(pairs.images, pairs.postures, unlabelled=frames.images)
    progress(0.85, "fewer patterns")
    rows_of = [
        *_size_rows(features, components, n_outputs, settings),
        *[row for base, table in tables.items() for row in _cv_rows(base, table, variances[base])],
        _fusion_row(model, test.images, components),
        *_reduction_rows(model, test),
        *_direction_rows(model, pairs, test),
        _stranger_row(model, seed),
        *path_rows(model, pairs.postures, seed),
        *spectrum_rows(
            rows, HistogramIntersection(), pairs.postures, BASES["Gaussian"],
            components.transform(features.transform(pairs.images)), 500,
        ),
    ]  # fmt: skip
    movements = {what: scenes(settings["steps"], seed, 2000, motion=what) for what in MOVING}
    followed = {what: model.predict(found.images) for what, found in movements.items()}
    rows_of += [_movement_row(what, movements[what], followed[what]) for what in MOVING]
    shown = movements["raise"], followed["raise"]
    return Outcome(rows_of, _pictures(tables, *shown), _notes())


def _cv_errors(X, Y, seed):
    """Squared 5-fold error by method and rank; an array (n_ranks,) each."""
    total = dict.fromkeys((PLS, FREE, BRIDGE), 0.0)
    for train, held in KFold(5, shuffle=True, random_state=seed).split(X):
        x_mean, y_mean = X[train].mean(axis=0), Y[train].mean(axis=0)
        Xc, Yc = X[train] - x_mean, Y[train] - y_mean
        top = min(RANKS.stop - 1, Y.shape[1])
        scale = np.linalg.norm(Xc, ord=2) ** 2
        free = ReducedRankRegression(top, alpha=0.0).fit(X[train], Y[train])
        bridge = ReducedRankRegression(top, alpha=list(PENALTIES * scale)).fit(X[train], Y[train])
        maps = {
            PLS: list(pls_coefficients(Xc, Yc, top)),
            FREE: [free.at_rank(r).coef_ for r in range(1, top + 1)],
            BRIDGE: [bridge.at_rank(r).coef_ for r in range(1, top + 1)],
        }
        for method, coefs in maps.items():
            guesses = (X[held] - x_mean) @ np.swapaxes(coefs, 1, 2) + y_mean
            total[method] = total[method] + np.sum((guesses - Y[held]) ** 2, axis=(1, 2))
    return {method: value / len(X) for method, value in total.items()}


def _stacked(found):
    """Errors by method, (n_seeds, n_ranks) up to the smallest number of ranks."""
    n_ranks = min(len(one[PLS]) for one in found)
    return {m: np.array([one[m][:n_ranks] for one in found]) for m in found[0]}


def _chosen(table):
    """The rank of least mean error within the published range, as far as there are ranks."""
    mean = table.mean(axis=0)
    low = min(RANKS.start, len(mean)) - 1
    return low + int(np.argmin(mean[low:])) + 1


def _size_rows(features, components, n_outputs, settings):
    said = ", ".join(f"{n}" for n in sorted(set(n_outputs["Gaussian"])))
    linear = ", ".join(f"{n}" for n in sorted(set(n_outputs["linear"])))
    gaussian = float(np.median(n_outputs["Gaussian"]))
    published = "500 frames, 12475; 2000 of them, 80 words"
    return [
        Row(
            "shape contexts of all frames; codewords and their guaranteed distance",
            published,
            f"{settings['frames']} frames, {features.n_contexts_}; {len(features.codebook_)} "
            f"words, every context within {features.radius_:g} of {2 * 24} counts",
            "25 edgels a frame; the document has 24.95 on average",
        ),
        Row("input components with 95 % of the variance", 109, components.n_components_, "informs"),
        Row(
            "output components (95 %), Gaussian base of 450 mm",
            13,
            said,
            "as published, within two"
            if abs(gaussian - 13) <= 2
            else "another number; it grows with the number of pairs",
            abs(gaussian - 13) <= 2,
        ),
        Row(
            "output components (95 %), linear base",
            13,
            linear,
            "the linear base cannot give 13: places of elbow, wrist and hand have 9 coordinates, "
            "and with a straight wrist only 6 of them are free",
            bool(np.median(n_outputs["linear"]) == 13),
        ),
    ]


def _cv_rows(base, table, variance):
    rank = min(RANK, table[PLS].shape[1])
    at = {m: values[:, rank - 1] for m, values in table.items()}
    shown = {m: f"{v.mean():.3g} +- {v.std():.2g}" for m, v in at.items()}
    gain = at[PLS] - at[BRIDGE]
    spread = gain.std(ddof=1) / np.sqrt(len(gain))
    shares = gain / variance
    share_spread = shares.std(ddof=1) / np.sqrt(len(gain))
    return [
        Row(
            f"{base} base: squared 5-fold error at rank {rank}",
            "PLS 14.14 +- 1.5, limited rank 13.8 +- 1.4",
            f"PLS {shown[PLS]}, limited rank {shown[BRIDGE]} ({shown[FREE]} without a penalty); "
            f"gain as a share of the variance {shares.mean():+.2g} +- {share_spread:.1g}",
            f"{'limited rank' if gain.mean() >= 0 else 'partial least squares'} is lower on "
            f"average, by {abs(gain.mean()):.2g} +- {spread:.1g}: "
            + ("significant" if abs(gain.mean()) > 2 * spread else "level, as in the document"),
            # The published gain is within its own spread: what must not be is a significant loss.
            bool(gain.mean() >= -2 * spread),
        ),
        Row(
            f"{base} base: best rank, {RANKS.start} to {RANKS.stop - 1} where there are that many",
            RANK,
            f"{_chosen(table[BRIDGE])} (PLS {_chosen(table[PLS])})",
            "informs: with a penalty more ranks do no harm",
        ),
    ]


def _fusion_row(model, images, components):
    rows = model.features_.transform(images)
    two_stages = model.regressor_.predict(model.x_features_.transform(rows))
    last = model.regressor_
    fused = (model.extractor_(rows) * last.s_) @ last.V_.T + last.intercept_
    gap = float(np.abs(fused - two_stages).max())
    n = len(model.extractor_.objects)
    return Row(
        "fused extractor against its two stages; operations a picture",
        f"109 x 500 = {109 * 500} to 7 x 500 = {7 * 500}",
        f"largest difference {gap:.1e}; {components.n_components_} x {n} to {model.rank_} x {n}",
        "the same numbers, by fewer operations" if gap < 1e-10 else "they differ",
        gap < 1e-10,
    )


def _reduction_rows(model, test):
    truth = model.y_features_.transform(test.postures)
    n = len(model.extractor_.objects)

    def error(candidate):
        return np.sum((candidate.predict_coordinates(test.images) - truth) ** 2)

    rows, whole = [], error(model)
    for share, published in zip(SHARES, ("-", "167 of 500 kept"), strict=True):
        small = compress(model, round(share * n))
        loss = error(small) / whole - 1
        rows.append(
            Row(
                f"squared error of test pictures with {share:.0%} of the patterns",
                published,
                f"{small.n_points_} of {n}: {loss:+.1%}",
                "less than 5 % is lost" if loss < LOSS else "more than 5 % is lost",
                bool(loss < LOSS) if share == SHARES[0] else None,
            )
        )
    return rows


def _direction_rows(model, pairs, test):
    rows = model.features_.transform(pairs.images)
    neighbour = KNeighborsRegressor(1, metric="cityblock").fit(rows, pairs.postures)
    seen = model.features_.transform(test.images)
    found = {
        "within joint limits": model.predict(test.images),
        "nearest known posture, as published": CandidatePreimage()
        .fit(pairs.postures, model.y_features_)
        .solve(model.predict_coordinates(test.images)),
        "posture of the nearest picture": neighbour.predict(seen),
        "mean posture": np.tile(pairs.postures.mean(axis=0), (len(seen), 1)),
    }
    ours, theirs = "within joint limits", "posture of the nearest picture"
    medians = {
        name: np.median(direction_errors(q, test.directions), axis=0) for name, q in found.items()
    }
    gain = medians[theirs].sum() - medians[ours].sum()
    return [
        Row(
            f"median error of direction, upper arm / forearm: {name}",
            "-",
            f"{value[0]:.1f} / {value[1]:.1f} degrees",
            "what knowing nothing gives" if name == "mean posture" else "informs",
        )
        for name, value in medians.items()
    ] + [
        Row(
            "the learned map against the posture of the nearest picture",
            "-",
            f"{gain:+.1f} degrees, both errors summed",
            "learning pays" if gain > 0 else "the nearest picture does as well",
        )
    ]


def _movement_row(what, movement, followed):
    joint = MOVING[what]
    wanted, found = np.degrees(movement.postures[:, joint]), np.degrees(followed[:, joint])
    alike = float(np.corrcoef(wanted, found)[0, 1])
    return Row(
        f"arm {what}, {len(found)} frames: joint {joint + 1} of the robot and of the person",
        "smooth curves that follow (figures only)",
        f"correlation {alike:.2f}; largest step {np.abs(np.diff(found)).max():.0f} degrees, "
        f"wanted {np.abs(np.diff(wanted)).max():.0f}",
        "the joint follows" if alike > 0.9 else "the joint follows roughly, or not",
    )


def _stranger_row(model, seed):
    stranger = scenes(5, seed, 3000, skin=(0.30, 0.45, 0.30))
    gap = float(np.abs(model.predict(stranger.images) - model.neutral_).max())
    return Row(
        "an actor of unknown skin colour",
        "neutral pose",
        f"{np.sum(~model.is_known(stranger.images))} of 5 pictures unknown; farthest joint "
        f"{gap:.1g} from the neutral one",
        "the neutral pose, as published" if gap < 1e-6 else "another pose",
        gap < 1e-6,
    )


def _pictures(tables, movement, followed):
    few = np.linspace(0, len(followed) - 1, 9).astype(int)[:8]
    arms = {
        "robot": in_picture(followed[few], movement.camera),
        "the person's arm, copied": in_picture(movement.postures[few], movement.camera),
    }
    steps = np.arange(len(followed))
    joints = {
        f"joint {j + 1}": {
            "robot": (steps, np.degrees(followed[:, j])),
            "copied": (steps, np.degrees(movement.postures[:, j])),
        }
        for j in range(4)
    }
    return [
        Picture(
            "strip",
            "An arm is raised and lowered: pictures, and the arm as it would be seen.",
            lambda: imitation_strip(movement.images[few], arms),
        ),
        Picture(
            "joints",
            "The first four joints over the movement; the others stay at zero.",
            lambda: curves(joints, xlabel="frame", ylabel="degrees"),
        ),
        Picture(
            "ranks",
            "Squared 5-fold error by rank, mean over draws of the pairs.",
            lambda: curves(
                {
                    f"{base} base": {
                        m: (np.arange(1, v.shape[1] + 1), v.mean(axis=0)) for m, v in t.items()
                    }
                    for base, t in tables.items()
                },
                xlabel="rank",
                ylabel="squared error",
                marker="o",
            ),
        ),
    ]


def _notes():
    return [
        STAND_IN,
        "Errors are squared distances of output components; the units of the document are not "
        "given, so only the order of the methods compares. Its difference, "
        "0.34, is far inside one standard deviation: not significant as it stands.",
        "With 109 inputs and 40 rows in a fold, limited rank without a penalty interpolates; the "
        "document's descent is stopped early, which is a penalty too. Ours is chosen by "
        "cross-validation within the training rows of each fold.",
    ]
