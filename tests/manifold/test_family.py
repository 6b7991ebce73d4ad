"""Every manifold on odd tables: units, origins, repeated rows, one column, few rows."""

import numpy as np
import pytest

from isthmus.manifold import (
    Charting,
    CurvilinearComponents,
    GenerativeTopographicMapping,
    LocalPCA,
    MaximumVarianceUnfolding,
    PrincipalCurve,
    RegularizedPrincipalManifold,
    SammonMapping,
    UnsupervisedKernelRegression,
)

pytestmark = pytest.mark.filterwarnings("ignore")

FAMILY = {
    "kernel regression": lambda q: UnsupervisedKernelRegression(q, random_state=0, max_iter=10),
    "topographic mapping": lambda q: GenerativeTopographicMapping(q, max_iter=5),
    "principal curve": lambda q: PrincipalCurve(),
    "principal manifold": RegularizedPrincipalManifold,
    "local planes": LocalPCA,
    "charting": Charting,
    "Sammon": SammonMapping,
    "curvilinear": CurvilinearComponents,
    "curvilinear, graph": lambda q: CurvilinearComponents(q, distance="graph"),
    "unfolding": MaximumVarianceUnfolding,
}


def bow():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 3, 40))
    return np.column_stack([np.cos(t), np.sin(t), t]) + 0.02 * rng.normal(size=(40, 3))


BOW = bow()
TABLES = {
    "small units": (1e-6 * BOW, 1),
    "large units": (1e6 * BOW, 1),
    "far from the origin": (BOW + 1e4, 1),
    "rows four times": (np.repeat(BOW[:10], 4, axis=0), 1),
    "one column": (BOW[:, :1], 1),
    "as many coordinates as columns": (BOW[:, :2], 2),
    "fewer rows than nodes": (BOW[:4], 1),
    "a constant column": (np.column_stack([BOW, np.ones(40)]), 1),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", FAMILY)
def test_odd_tables_are_reconstructed(name, table):
    Y, q = TABLES[table]
    model = FAMILY[name](q).fit(Y)
    back = model.inverse_transform(model.transform(Y))
    if (name, table) == ("charting", "rows four times"):
        assert np.isfinite(back).all()  # planes of a few different rows have no common coordinate
    else:
        assert np.sqrt(np.mean((back - Y) ** 2)) < 0.06 * Y.std()


@pytest.mark.parametrize("name", FAMILY)
def test_units_and_origin_change_nothing(name):
    model = FAMILY[name](1)
    plain = model.fit(BOW).inverse_transform(model.transform(BOW))
    moved = 2.0**20 * (BOW - 0.25)
    again = model.fit(moved).inverse_transform(model.transform(moved)) / 2.0**20 + 0.25
    np.testing.assert_allclose(again, plain, atol=1e-3)


@pytest.mark.parametrize("name", FAMILY)
def test_one_row_is_refused(name):
    with pytest.raises(ValueError, match=r"minimum of 2 is required|needs at least 3 rows"):
        FAMILY[name](1).fit(BOW[:1])
