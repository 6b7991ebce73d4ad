"""SFA-pictures: slow features of moving pictures."""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression

from isthmus.features import SlowFeatureAnalysis
from isthmus.plotting import image_grid
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._natural_images import natural_images

WHY = "the films are not available; photographs that move and drawn objects stand in"
SIDE, N_UNITS = 16, 9
FIELD, N_OBJECTS = 20, 3
ANGLES = np.linspace(0, np.pi, 12, endpoint=False)
FREQUENCIES = (0.06, 0.1, 0.15, 0.2)
PHASES = np.linspace(0, 2 * np.pi, 8, endpoint=False)


@experiment(
    "SFA-pictures",
    document="[002] 1.2 and 1.3, figures 3, 4 and 7",
    title="Slow features of moving pictures: what, where, and cells that do not mind the phase",
    published=(
        "Figure 3: slow features of a film. Figure 4: trained on objects that move, the features "
        "tell the kind of object. Figure 7: trained on natural image sequences, quadratic features "
        "resemble cells of the visual cortex. Pictures of another article, no numbers."
    ),
    covers=[Covers(f"002 figure {k}", way="other data", why=WHY) for k in (3, 4, 7)],
    quick={"n_steps": 1500, "n_pixels": 15, "n_films": 4},
    full={"n_steps": 20_000, "n_pixels": 40, "n_films": 40},
)
def pictures(settings, seed, progress):
    rng = np.random.default_rng(seed)
    images, source = natural_images(rng)
    progress(0.1, "films of photographs")
    per_film = settings["n_steps"] // settings["n_films"]
    films = [_film(images, per_film, rng) for _ in range(settings["n_films"])]
    unseen = [_film(images, per_film, rng) for _ in range(2)]
    lens = PCA(settings["n_pixels"], whiten=True, random_state=seed).fit(np.vstack(films))
    progress(0.3, "slow features of photographs")
    model = SlowFeatureAnalysis(N_UNITS, expansion=2)
    model.fit([lens.transform(film) for film in films])
    rows = [*_film_rows(model, lens, unseen)]
    tuning = _tuning(model, lens)
    rows += _cell_rows(tuning)
    progress(0.6, "objects that move")
    rows += _object_rows(settings["n_steps"], settings["n_pixels"], seed)
    best = [_best_grating(unit) for unit in tuning]
    return Outcome(
        rows,
        [
            Picture(
                "gratings",
                "The grating to which each of the slow features answers most.",
                lambda: image_grid([[g.reshape(SIDE, SIDE) for g in best]]),
            )
        ],
        [
            f"Patches of {SIDE} x {SIDE} pixels that wander over {source}; "
            f"{settings['n_pixels']} principal components, all their products. The document's "
            "pictures are of films that are not available."
        ],
    )


def _film(images, n, rng):
    """A patch that wanders over a photograph with a slowly changing velocity."""
    image = images[rng.integers(len(images))]
    image = (image - image.mean()) / image.std()
    place = rng.uniform(0, np.array(image.shape) - SIDE - 1)
    velocity = rng.normal(size=2)
    frames = np.empty((n, SIDE * SIDE))
    limit = np.array(image.shape) - SIDE - 1
    for t in range(n):
        velocity = 0.97 * velocity + 0.25 * rng.normal(size=2)
        place = place + velocity
        velocity = np.where((place < 0) | (place > limit), -velocity, velocity)
        place = np.clip(place, 0, limit)
        i, j = place.astype(int)
        frames[t] = image[i : i + SIDE, j : j + SIDE].ravel()
    return frames


def _film_rows(model, lens, unseen):
    films = [lens.transform(film) for film in unseen]
    pixels = float(np.mean([_slowness(film) for film in films]))
    slow = float(np.mean([_slowness(model.transform(film))[:3] for film in films]))
    yield Row(
        "mean squared step of unit-variance signals in new films: three slowest, and inputs",
        "slower than the pixels (picture)",
        f"{slow:.3f} and {pixels:.3f}",
        "slower" if slow < pixels else "not slower",
        bool(slow < pixels),
    )


def _slowness(Z):
    return np.mean(np.diff(Z, axis=0) ** 2, axis=0) / np.maximum(Z.var(axis=0), 1e-12)


def _gratings():
    y, x = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2
    shape = (len(ANGLES), len(FREQUENCIES), len(PHASES), SIDE * SIDE)
    found = np.empty(shape)
    for i, angle in enumerate(ANGLES):
        u = np.cos(angle) * x + np.sin(angle) * y
        for j, frequency in enumerate(FREQUENCIES):
            for k, phase in enumerate(PHASES):
                found[i, j, k] = np.cos(2 * np.pi * frequency * u + phase).ravel()
    return found


def _tuning(model, lens):
    """Answers of the units to gratings, (units, angles, frequencies, phases), larger is more."""
    gratings = _gratings()
    answers = model.transform(lens.transform(gratings.reshape(-1, SIDE * SIDE)))
    answers = answers.T.reshape(N_UNITS, *gratings.shape[:3])
    # The sign of a feature is free: it counts where it is larger.
    flip = np.abs(answers.min(axis=(1, 2, 3))) > np.abs(answers.max(axis=(1, 2, 3)))
    return np.where(flip[:, None, None, None], -answers, answers)


def _cell_rows(tuning):
    over_phase, over_angle = [], []
    for unit in tuning:
        i, j = np.unravel_index(unit.mean(axis=2).argmax(), unit.shape[:2])
        spread = np.ptp(unit.mean(axis=2))
        over_phase.append(np.ptp(unit[i, j]) / spread)
        over_angle.append(np.ptp(unit[:, j].mean(axis=1)) / spread)
    invariant = float(np.mean(np.array(over_phase) < 0.5))
    yield Row(
        "features whose answer to their best grating changes with its phase by less than half "
        "of what orientation and frequency change",
        "as complex cells: most (picture)",
        f"{invariant:.0%} of {len(tuning)}; changes {', '.join(f'{v:.2f}' for v in over_phase)}",
        "most" if invariant > 0.5 else "a minority",
        bool(invariant > 0.5),
    )
    tuned = float(np.mean(np.array(over_angle) > 0.3))
    yield Row(
        "features whose answer changes with the orientation by more than three tenths of its range",
        "some are tuned to orientation (picture)",
        f"{tuned:.0%}",
        "some" if tuned > 0 else "none",
        bool(tuned > 0),
    )


def _best_grating(unit):
    return _gratings()[np.unravel_index(unit.argmax(), unit.shape)]


def _object_rows(n, n_pixels, seed):
    rng = np.random.default_rng([seed, 1])
    train, test = (_objects(n, rng) for _ in range(2))
    lens = PCA(n_pixels, whiten=True, random_state=seed).fit(train[0])
    slow = SlowFeatureAnalysis(10, expansion=2).fit(lens.transform(train[0]))
    found = {
        "slow features": lambda X: slow.transform(lens.transform(X)),
        "principal components": lambda X: lens.transform(X)[:, :10],
    }
    kinds, places = {}, {}
    for name, coordinates in found.items():
        Z, Zt = coordinates(train[0]), coordinates(test[0])
        kinds[name] = LogisticRegression(max_iter=2000).fit(Z, train[1]).score(Zt, test[1])
        places[name] = LinearRegression().fit(Z, train[2]).score(Zt, test[2])
    ours, theirs = kinds.values()
    yield Row(
        f"kind of {N_OBJECTS} moving objects by a linear rule on ten features, new films",
        "the kind of object can be read",
        f"{ours:.0%}, from principal components {theirs:.0%}",
        "better than from principal components" if ours > theirs else "not better",
        bool(ours > theirs),
    )
    ours, theirs = places.values()
    yield Row(
        "place of the object by a linear rule on ten features: R² in new films",
        None,
        f"{ours:.2f}, from principal components {theirs:.2f}",
        "for information",
    )


def _objects(n, rng):
    """Pictures of a disc, a ring or a cross that moves and at times is replaced by another."""
    y, x = np.mgrid[:FIELD, :FIELD]
    place, velocity, kind = np.full(2, FIELD / 2), rng.normal(size=2) * 0.3, 0
    frames, kinds, places = np.empty((n, FIELD * FIELD)), np.empty(n, int), np.empty((n, 2))
    for t in range(n):
        if rng.random() < 0.01:
            kind = int(rng.integers(N_OBJECTS))
        velocity = 0.95 * velocity + 0.12 * rng.normal(size=2)
        place = place + velocity
        outside = (place < 5) | (place > FIELD - 6)
        velocity, place = np.where(outside, -velocity, velocity), np.clip(place, 5, FIELD - 6)
        dy, dx = y - place[0], x - place[1]
        radius = np.hypot(dy, dx)
        if kind == 0:
            picture = 1 / (1 + np.exp(2 * (radius - 3)))
        elif kind == 1:
            picture = np.exp(-((radius - 3.5) ** 2))
        else:
            picture = np.maximum(np.exp(-(dy**2)), np.exp(-(dx**2))) * (radius < 5)
        frames[t], kinds[t], places[t] = picture.ravel(), kind, place
    return frames + 0.02 * rng.normal(size=frames.shape), kinds, places
