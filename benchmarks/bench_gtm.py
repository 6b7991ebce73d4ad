"""Generative topographic mapping: the same steps of EM by us and by ugtm, and many rows."""

import numpy as np
from sklearn.datasets import make_s_curve
from sklearn.preprocessing import scale

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.datasets import load_oilflow
from isthmus.manifold import GaussianBasis, GenerativeTopographicMapping
from isthmus.manifold.gtm.basis import lattice, make_basis
from isthmus.manifold.gtm.mixture import Mixture, block_sums
from isthmus.manifold.gtm.starts import plane_start

N_NODES, N_CENTRES, PENALTY, N_STEPS = 16, 4, 0.1, 50


def ours(X):
    """Fifty steps of the published EM, with the peer's basis, penalty and plane to begin at."""
    return GenerativeTopographicMapping(
        2,
        n_nodes=N_NODES,
        basis=GaussianBasis(N_CENTRES, width=1.0, linear=False),
        alpha=PENALTY,
        noise="em",
        init="pca",
        max_iter=N_STEPS,
        tol=0.0,
    ).fit(X)


def peer(X):
    try:
        from ugtm import runGTM
    except ImportError as error:
        raise Unavailable("ugtm is not installed") from error
    return runGTM(data=X, k=N_NODES, m=N_CENTRES, s=1.0, regul=PENALTY, niter=N_STEPS)


def likelihood(X):
    """The mean log-likelihood of a row, by one formula for both."""

    def of(model):
        if isinstance(model, GenerativeTopographicMapping):
            return {"log-likelihood": float(model.score_samples(X).mean())}
        mixture = Mixture(model.matY.T, 1 / float(model.betaInv))
        return {"log-likelihood": block_sums(X, mixture).log_likelihood / len(X)}

    return of


@benchmark(
    "gtm-em",
    work="50 steps of EM, 16 x 16 nodes, 16 basis functions, of a noisy S-shaped sheet",
    peer="ugtm.runGTM",
    cases=(1000, 3000, 10_000),
    quick=(300,),
    goal="the same likelihood, 10 times as fast",
)
def steps(n):
    X, _ = make_s_curve(n, noise=0.1, random_state=0)
    X = scale(X)  # as the peer does
    return Contest(lambda: ours(X), lambda: peer(X), quality=likelihood(X))


@benchmark(
    "gtm-oil",
    work="50 steps of EM on 1000 rows of 12 measurements of an oil pipeline",
    peer="ugtm.runGTM",
    cases=("oil flow",),
    goal="the same likelihood, 10 times as fast",
)
def oil(_):
    X = scale(load_oilflow().X_train)
    return Contest(lambda: ours(X), lambda: peer(X), quality=likelihood(X))


@benchmark(
    "gtm-rows",
    work="5 steps of EM on rows of ten columns, 16 x 16 nodes, read in blocks",
    peer="the formula in NumPy, all rows at once",
    cases=(10_000, 100_000, 1_000_000),
    quick=(2000,),
    goal="time linear in rows; memory of blocks",
)
def rows(n):
    rng = np.random.default_rng(0)
    Z = rng.uniform(-1, 1, size=(n, 2))
    X = np.sin(Z @ rng.normal(size=(2, 10)) * 2) + 0.05 * rng.normal(size=(n, 10))

    def fit():
        return GenerativeTopographicMapping(
            2,
            n_nodes=N_NODES,
            basis=GaussianBasis(N_CENTRES, width=1.0, linear=False),
            alpha=PENALTY,
            noise="em",
            init="pca",
            max_iter=5,
            tol=0.0,
        ).fit(X)

    def formula():
        if n > 100_000:
            raise Unavailable("its tables of rows times nodes take 2 GB each")
        mean, unit = X.mean(axis=0), np.sqrt(X.var(axis=0).mean())
        Y, nodes = (X - mean) / unit, lattice((N_NODES, N_NODES))
        basis = make_basis((N_CENTRES, N_CENTRES), 1.0, False)
        start = plane_start(Y[:1000], nodes, basis, PENALTY)
        Phi, beta = basis(nodes), start.beta
        F, prior = Phi @ start.weights, np.append(np.full(N_CENTRES**2, PENALTY), 0.0)
        for _ in range(5):
            D = (Y**2).sum(axis=1)[:, None] + (F**2).sum(axis=1) - 2 * Y @ F.T
            L = -0.5 * beta * D
            R = np.exp(L - L.max(axis=1, keepdims=True))
            R /= R.sum(axis=1, keepdims=True)
            A = (Phi.T * R.sum(axis=0)) @ Phi + np.diag(prior) / beta
            F = Phi @ np.linalg.solve(A, Phi.T @ (R.T @ Y))
            D = (Y**2).sum(axis=1)[:, None] + (F**2).sum(axis=1) - 2 * Y @ F.T
            beta = Y.size / np.sum(R * D)
        return Mixture(mean + unit * F, beta / unit**2)

    # Likelihoods are not compared: after few steps they depend on the rows of the start.
    return Contest(fit, formula)


@benchmark(
    "gtm-landscape",
    work="A property of n rows as a landscape over a map of 16 x 16 nodes",
    peer="ugtm.projection and ugtm.landscape",
    cases=(1000, 3000, 10_000),
    quick=(300,),
    goal="the same share of the property explained, faster",
)
def landscape(n):
    X, y = make_s_curve(n, noise=0.1, random_state=0)
    model, theirs = ours(X[:300]), peer(X[:300])

    def their_landscape():
        import ugtm

        found = ugtm.projection(theirs, X)
        return found, ugtm.landscape(found, y[:, None])

    def quality(made):
        if isinstance(made, tuple):
            told = np.asarray(made[0].matR) @ np.asarray(made[1]).ravel()
        else:
            told = made.predict(X)
        return {"explained": float(1 - np.mean((told - y) ** 2) / y.var())}

    return Contest(lambda: model.landscape(X, y), their_landscape, quality)


@benchmark(
    "gtm-magnification",
    work="How much the map stretches at n places",
    peer="differences of our own map",
    cases=(1000, 10_000, 100_000),
    quick=(300,),
    goal="the same, by the Jacobian",
)
def magnification(n):
    X, _ = make_s_curve(300, noise=0.1, random_state=0)
    model = ours(X)
    Z = np.random.default_rng(0).uniform(-0.9, 0.9, size=(n, 2))

    def differences():
        steps = 1e-5 * np.eye(2)
        slopes = [model.inverse_transform(Z + s) - model.inverse_transform(Z - s) for s in steps]
        a, b = (slope / 2e-5 for slope in slopes)
        aa, bb, ab = np.sum(a * a, axis=1), np.sum(b * b, axis=1), np.sum(a * b, axis=1)
        return np.sqrt(aa * bb - ab**2)

    return Contest(
        lambda: model.magnification(Z),
        differences,
        None,
        lambda a, b: np.abs(a / b - 1).max(),
    )
