"""Maps through grid nodes: the PA-10 in both directions, and smoothing of large grids."""

import numpy as np
from scipy.interpolate import RegularGridInterpolator
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial import cKDTree
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.manifold import PSOM, SmoothPSOM, grid_points
from isthmus.manifold.psom.grid import make_grid
from isthmus.manifold.psom.roughness import roughness_matrix, roughness_product
from isthmus.robotics import pa10

LIMITS = np.radians([177, 91, 174, 137])
BOX = np.column_stack([-LIMITS, LIMITS])
N_NODES = 8  # for each of four joints: 4096 postures
GRID = (N_NODES,) * 4
WRIST = 4
N_TUNED = 800  # rows on which peers choose their widths, before they train on all
TESTS = 1000


def _wrist(joints):
    whole = np.zeros((len(joints), 7))
    whole[:, :4] = joints
    return pa10().positions(whole)[:, WRIST]


def _postures(n, seed=0):
    return np.random.default_rng(seed).uniform(-LIMITS, LIMITS, size=(n, 4))


def _forward(joints):
    """Ours: a map through 4096 postures at Chebyshev nodes, built and evaluated."""
    nodes = _wrist(grid_points(GRID, bounds=BOX, basis="chebyshev"))

    def ours():
        model = PSOM(nodes, grid=GRID, bounds=BOX, basis="chebyshev").fit()
        return model.inverse_transform(joints)

    return ours


def _millimetres(joints):
    truth = _wrist(joints)

    def quality(found):
        return {"mean mm": float(np.linalg.norm(found - truth, axis=1).mean())}

    return quality


def _splines(joints, basis="lagrange"):
    """Cubic splines through regular nodes, or through ours, beyond the outermost of them too."""
    axes = [axis.nodes for axis in make_grid("splines", GRID, bounds=BOX, basis=basis).axes]
    table = _wrist(grid_points(GRID, bounds=BOX, basis=basis)).reshape(*GRID, 3)
    spline = RegularGridInterpolator(
        axes, table, method="cubic", bounds_error=False, fill_value=None
    )
    return spline(joints)


def _kernel_ridge():
    search = {"kernelridge__gamma": np.logspace(-1.5, 0.5, 9)}
    model = make_pipeline(StandardScaler(), KernelRidge(alpha=1e-8, kernel="rbf"))
    return GridSearchCV(model, search, cv=3)


def _gaussian_process(n_inputs):
    kernel = ConstantKernel(1.0, (1e-2, 1e4)) * RBF(np.ones(n_inputs), (1e-2, 1e3))
    kernel += WhiteKernel(1e-6, (1e-10, 1e-1))
    return GaussianProcessRegressor(kernel, normalize_y=True)


def _network():
    layers = MLPRegressor(
        hidden_layer_sizes=(128, 128), learning_rate_init=3e-3, max_iter=400, random_state=0
    )
    return make_pipeline(StandardScaler(), layers)


def _trained(name, X, Y):
    """A regressor of scikit-learn: widths chosen on some rows, weights from all."""
    few = np.random.default_rng(1).permutation(len(X))[:N_TUNED]
    center, scale = Y.mean(axis=0), Y.std(axis=0)
    T, unit = (Y - center) / scale, X.std(axis=0)
    if name == "KernelRidge":
        model = _kernel_ridge().fit(X[few], T[few]).best_estimator_.fit(X, T)
    elif name == "GaussianProcessRegressor":
        kernel = _gaussian_process(X.shape[1]).fit(X[few] / unit, T[few]).kernel_
        gaussian = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True)
        model = gaussian.fit(X / unit, T)
        return lambda Z: center + scale * model.predict(Z / unit)
    else:
        model = _network().fit(X, T)
    return lambda Z: center + scale * model.predict(Z)


@benchmark(
    "psom-forward",
    work="the PA-10's wrist from 4096 postures, built and asked for 1000 others",
    peer="SciPy or scikit-learn, trained on as many postures",
    cases=(
        "cubic splines, regular nodes",
        "cubic splines, Chebyshev nodes",
        "KernelRidge",
        "GaussianProcessRegressor",
        "MLPRegressor",
    ),
    quick=("cubic splines, regular nodes",),
    unit="peer",
    goal="lowest error, 5 times below cubic splines",
)
def forward(peer):
    joints = _postures(TESTS)

    def other():
        if peer.startswith("cubic splines"):
            return _splines(joints, "chebyshev" if "Chebyshev" in peer else "lagrange")
        train = grid_points(GRID, bounds=BOX, basis="chebyshev")
        return _trained(peer, train, _wrist(train))(joints)

    return Contest(_forward(joints), other, _millimetres(joints))


@benchmark(
    "psom-splines",
    work="the PA-10's wrist from 4096 postures, asked for many others",
    peer='SciPy RegularGridInterpolator(method="cubic")',
    cases=(1000, 10_000, 100_000),
    quick=(100, 300, 1000),
    unit="postures",
    goal="faster, and 5 times the precision",
)
def splines(n):
    joints = _postures(n)
    return Contest(_forward(joints), lambda: _splines(joints), _millimetres(joints))


@benchmark(
    "psom-inverse",
    work="joints of the PA-10 for 1000 positions of its wrist, from 4096 postures",
    peer="scikit-learn, trained from positions to joints",
    cases=("KernelRidge", "GaussianProcessRegressor", "MLPRegressor"),
    quick=("MLPRegressor",),
    unit="peer",
    goal="lowest error",
)
def inverse(peer):
    train = grid_points(GRID, bounds=BOX, basis="chebyshev")
    goals = _wrist(_postures(TESTS))
    nodes = np.c_[_wrist(train), train]
    asked = np.c_[goals, np.full((TESTS, 4), np.nan)]

    def quality(joints):
        off = np.linalg.norm(_wrist(np.clip(joints, -LIMITS, LIMITS)) - goals, axis=1)
        return {"mean mm": float(off.mean()), "median mm": float(np.median(off))}

    def ours():
        model = PSOM(nodes, grid=GRID, bounds=BOX, basis="chebyshev").fit()
        return model.complete(asked)[:, 3:]

    return Contest(
        ours,
        lambda: _trained(peer, _wrist(train), train)(goals),
        quality,
    )


@benchmark(
    "psom-kronecker",
    work="noisy nodes of a grid in 3 dimensions smoothed",
    peer="a dense matrix and its Cholesky factor (SciPy)",
    cases=(16**3, 22**3, 46**3, 100**3),
    quick=(8**3, 10**3, 12**3),
    unit="nodes",
    goal="a million nodes",
)
def kronecker(size):
    n = round(size ** (1 / 3))
    x, y, z = grid_points((n,) * 3, basis="chebyshev").T
    noisy = (np.sin(2 * x + y) * np.cos(z))[:, None]
    noisy = noisy + 0.1 * np.random.default_rng(0).normal(size=noisy.shape)
    grid, lam = make_grid("benchmark", (n,) * 3, bounds=None, basis="chebyshev"), 0.05

    def dense():
        if 3 * 8 * size**2 > 2e9:
            raise Unavailable(f"three matrices of {8 * size**2 / 1e9:.1f} GB")
        A = lam * roughness_matrix(grid)
        A[np.diag_indices_from(A)] += 1.0
        return cho_solve(cho_factor(A, overwrite_a=True), noisy)

    def quality(W):
        W = W.reshape(1, -1)
        left = W + lam * roughness_product(grid, W) - noisy.T
        return {"relative residual": float(np.linalg.norm(left) / np.linalg.norm(noisy))}

    model = SmoothPSOM((n,) * 3, smoothness=lam)
    return Contest(lambda: model.fit_nodes(noisy).weights_, dense, quality)


def _sheet(n):
    """Units of a map of n x n on a wavy sheet."""
    u, v = np.meshgrid(*[np.linspace(-1, 1, n)] * 2, indexing="ij")
    return np.stack([u, v, np.sin(3 * u) * v], axis=-1)


def _rows_of_sheet():
    a, b = np.random.default_rng(0).uniform(-1, 1, size=(2, 2000))
    return np.column_stack([a, b, np.sin(3 * a) * b])


def _distance_from(X):
    def quality(found):
        return {"error": float(np.sqrt(np.mean(np.sum((found - X) ** 2, axis=1))))}

    return quality


@benchmark(
    "psom-codebook",
    work="New rows of a wavy sheet on the manifold through the units of a map of n x n",
    peer="the nearest unit, which is what a self-organising map answers",
    cases=(5, 10, 20),
    quick=(5,),
    unit="units per axis",
    goal="a fraction of the error; see psom-codebook-error for time at the same error",
    why="ours begins at the four nearest units and searches from each, with the map and its slopes "
    "at every step, for a fraction of the error",
)
def codebook(n):
    units, X = _sheet(n), _rows_of_sheet()

    def nearest():
        flat = units.reshape(-1, 3)
        return flat[((X[:, None] - flat) ** 2).sum(axis=2).argmin(axis=1)]

    return Contest(lambda: PSOM.from_codebook(units).reconstruct(X), nearest, _distance_from(X))


# Units per axis of ours, and of a map whose nearest unit is as near.
AS_NEAR = {5: 46, 10: 460}


@benchmark(
    "psom-codebook-error",
    work="New rows of a wavy sheet, to the same error: the manifold through n x n units",
    peer="the nearest of as many units as it takes, by a tree (SciPy cKDTree)",
    cases=tuple(AS_NEAR),
    quick=(5,),
    unit="units per axis",
    goal="1 at the same error",
    why="a tree of few units answers in little more time than it takes to find the four where our "
    "searches begin; the error falls faster with our units than with those of a tree",
)
def codebook_error(n):
    units, X, many = _sheet(n), _rows_of_sheet(), _sheet(AS_NEAR[n]).reshape(-1, 3)

    def nearest():
        return many[cKDTree(many).query(X)[1]]

    return Contest(lambda: PSOM.from_codebook(units).reconstruct(X), nearest, _distance_from(X))
