"""What an estimator looks like: its call, and the arrows of the square that it fills."""

import inspect

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr

from isthmus._view import SquareView, path_html, path_text
from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.manifold import UnsupervisedKernelRegression
from isthmus.preimage import FixedPointPreimage, GradientPreimage
from isthmus.regression import KernelRidgeCV
from isthmus.structured import ConformalSets, DependencyEstimator, TwinGaussianProcess
from isthmus.testing import all_estimators

X = np.random.default_rng(0).normal(size=(20, 2))


@pytest.mark.parametrize(
    ("estimator", "shown"),
    [
        (DependencyEstimator(), "X → φ, T: default → Γ: default → Y"),
        (
            DependencyEstimator(x_features=KernelPCA(), regressor=RandomForestRegressor()),
            "X → φ: KernelPCA → T: RandomForestRegressor → Γ: default → Y",
        ),
        (
            DependencyEstimator(y_features="gaussian", preimage=GradientPreimage()),
            "X → φ, T: default → Γ: GradientPreimage for 'gaussian' → Y",
        ),
        (
            DependencyEstimator(loss="f1"),
            "X → φ, T: default → Γ: least expected loss 'f1' → Y",
        ),
        (
            TwinGaussianProcess(x_kernel="gaussian", y_kernel="gaussian"),
            "X → φ: 'gaussian' → T: TwinGaussianProcess → Γ: for 'gaussian' → Y",
        ),
        (KernelPCA(kernel=Gaussian(gamma=1.0)), "X ⇄ φ, Γ: KernelPCA with Gaussian(gamma=1.0) ⇄"),
        (UnsupervisedKernelRegression(), "X ⇄ φ, Γ: UnsupervisedKernelRegression ⇄ coordinates"),
        (KernelRidgeCV("gaussian"), "X → T: KernelRidgeCV with 'gaussian' → Y"),
        (FixedPointPreimage(), "coordinates → Γ: FixedPointPreimage → objects"),
        (ConformalSets(DependencyEstimator()), "X → t: DependencyEstimator → Y"),
    ],
)
def test_the_view_names_what_fills_each_slot(estimator, shown):
    assert path_text(estimator).startswith(shown)


def test_a_fitted_square_shows_the_parts_that_were_chosen():
    model = DependencyEstimator(y_features="gaussian").fit(X, X)
    text = path_text(model)
    assert text.startswith("X → φ, T: KernelRidgeCV → Γ: FixedPointPreimage for Gaussian(gamma=0.")
    assert len(text) < 100
    assert path_text(clone(model)) == "X → φ, T: default → Γ: default for 'gaussian' → Y"


def test_repr_is_the_call_and_a_comment_so_that_it_is_still_python():
    estimator = DependencyEstimator(y_features="gaussian", crossfit=None)
    lines = repr(estimator).splitlines()
    assert lines[0] == BaseEstimator.__repr__(estimator) == str(estimator)
    assert lines[1].startswith("# X → ")
    assert eval(repr(estimator)).get_params() == estimator.get_params()


def test_inside_another_estimator_only_the_call_is_shown():
    assert "#" not in repr(make_pipeline(KernelPCA(2), DependencyEstimator()))


@pytest.mark.parametrize(
    "kind",
    [next(part for part in found if inspect.isclass(part)) for found in all_estimators()],
    ids=lambda kind: kind.__name__,
)
def test_every_estimator_shows_its_arrow(kind):
    needed = [p.name for p in inspect.signature(kind).parameters.values() if p.default is p.empty]
    estimator = kind(**dict.fromkeys(needed))
    assert issubclass(kind, SquareView)
    start, *arrows, end = path_text(estimator).replace("⇄", "→").split(" → ")
    assert start
    assert end
    assert all(arrow.split(":")[0] in {"φ", "T", "Γ", "t", "φ, T", "φ, Γ"} for arrow in arrows)
    assert repr(estimator).count("\n# ") == 1


class Hostile(BaseEstimator):
    """A kernel-like thing whose name is an attack on the page and on the terminal."""

    def __repr__(self, N_CHAR_MAX=700):
        return '<script>alert("x")</script>\n\x1b[31m'


class Failing:
    def __repr__(self):
        raise RuntimeError("no")


def test_names_cannot_leave_the_page_or_the_line():
    estimator = DependencyEstimator(x_features=Hostile(), y_features=Hostile(), regressor=Hostile())
    page = path_html(estimator)
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    text = path_text(estimator)
    assert text.isprintable()
    assert "default for <script>" in text


def test_a_part_whose_repr_fails_is_shown_by_its_class():
    assert "Failing" in path_text(DependencyEstimator(x_features=Failing()))


def test_notebooks_show_the_square_above_the_view_of_scikit_learn():
    estimator = DependencyEstimator(y_features="gaussian")
    bundle = estimator._repr_mimebundle_()
    assert bundle["text/plain"] == repr(estimator)
    assert bundle["text/html"].startswith('<div class="isthmus-square"')
    assert "sk-top-container" in bundle["text/html"]
    assert estimator._repr_html_().startswith('<div class="isthmus-square"')
    assert "DependencyEstimator" in estimator_html_repr(estimator)


def test_who_asks_scikit_learn_for_text_gets_text():
    with config_context(display="text"):
        assert not hasattr(KernelPCA(), "_repr_html_")
        assert "text/html" not in KernelPCA()._repr_mimebundle_()


def test_a_message_shows_the_call_without_its_arrows():
    with pytest.raises(TypeError, match="Got") as caught:
        DependencyEstimator(y_features=KernelRidgeCV()).fit(X, X)
    assert "→" not in str(caught.value)
