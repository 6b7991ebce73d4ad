"""NMF-swimmer: parts of a stick figure, with and without a constraint on their sparseness."""

from itertools import product

import numpy as np

from isthmus.plotting import image_grid
from isthmus.sparse import NonnegativeFactorization, hoyer_sparseness
from isthmus_experiments import Outcome, Picture, Row, experiment
from isthmus_experiments.experiments._matching import matched

SIDE = 21
JOINTS = ((7, 9), (7, 11), (13, 9), (13, 11))
TURNS = (((-1, -1), (-1, 0), (0, -1), (1, -1)), ((-1, 1), (-1, 0), (0, 1), (1, 1)))
LENGTH = 5
ISOLATED = 0.95


@experiment(
    "NMF-swimmer",
    document="[002] 2.3, non-negative and sparse factorisation",
    title="Swimmer: which factorisation isolates the limbs",
    published=(
        "Non-negative factorisation finds parts; a constraint on their sparseness makes the parts "
        "local. No numbers; the 256 swimmers (a torso, four limbs in four positions each) stand in "
        "for pictures."
    ),
    quick={"n_init": 1, "max_iter": 100},
    full={"n_init": 10, "max_iter": 1000},
)
def swimmer(settings, seed, progress):
    images, limbs, torso = swimmers()
    X = images.reshape(256, -1)
    target = float(hoyer_sparseness(limbs[0].ravel()))
    models = {
        "plain": NonnegativeFactorization(17, tol=1e-3, random_state=seed, **settings),
        f"sparseness {target:.2f}": NonnegativeFactorization(
            17, sparsity=target, tol=1e-2, random_state=seed, **settings
        ),
    }
    found, isolated, ghosts = {}, {}, {}
    for i, (name, model) in enumerate(models.items()):
        progress(i / 2, name)
        parts = model.fit(X).components_
        order, similarity = matched(parts, limbs.reshape(16, -1))
        found[name] = parts[order].reshape(16, SIDE, SIDE)
        isolated[name] = int(np.sum(similarity > ISOLATED))
        weight = found[name].sum(axis=(1, 2))
        ghosts[name] = float(np.mean((found[name] * torso).sum(axis=(1, 2)) / weight))
    plain, sparse = models
    rows = [
        Row(
            f"limbs isolated (cosine above {ISOLATED}) of 16",
            "sparse parts are local",
            f"{plain}: {isolated[plain]}, {sparse}: {isolated[sparse]}",
            "the constraint isolates more limbs"
            if isolated[sparse] > isolated[plain]
            else "the constraint isolates no more limbs than the plain factorisation",
            isolated[sparse] > isolated[plain],
        ),
        Row(
            "share of a limb's part that lies on the torso",
            "plain factorisation leaves ghosts of the torso",
            f"{plain}: {ghosts[plain]:.3f}, {sparse}: {ghosts[sparse]:.3f}",
            "less torso in sparse parts"
            if ghosts[sparse] < ghosts[plain]
            else "no less torso in sparse parts",
            ghosts[sparse] < ghosts[plain],
        ),
    ]
    return Outcome(
        rows,
        [
            Picture(
                "parts",
                "Eight swimmers; below, the first eight limbs and the parts matched to them.",
                lambda: image_grid(
                    [images[::36][:8], limbs[:8], *(_shown(found[name][:8]) for name in models)],
                    row_titles=["swimmers", "limbs", *models],
                ),
            )
        ],
        [
            "The torso is in every picture, so it can be shared out among the limbs of one joint "
            "without any loss: the plain factorisation is not unique. The sparseness asked for is "
            "that of a true limb; the torso itself, which is longer, cannot have it exactly."
        ],
    )


def swimmers():
    """256 images, sums of a torso and four of the 16 limbs; the limbs; the torso."""
    torso = np.zeros((SIDE, SIDE))
    torso[7:14, 10] = 1
    limbs = np.zeros((16, SIDE, SIDE))
    for i, ((y, x), turns) in enumerate(zip(JOINTS, 2 * TURNS, strict=True)):
        for j, (dy, dx) in enumerate(turns):
            # From the pixel beside the joint on: the joint would be in all four positions.
            for step in range(1, LENGTH + 1):
                limbs[4 * i + j, y + dy * step, x + dx * step] = 1
    choices = product(range(4), repeat=4)
    images = [torso + sum(limbs[4 * i + c] for i, c in enumerate(choice)) for choice in choices]
    return np.array(images), limbs, torso


def _shown(parts):
    return parts / parts.max(axis=(1, 2), keepdims=True)
