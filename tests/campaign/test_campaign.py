"""A share of the campaign that is small enough for every run of the tests; the rest by itself."""

import warnings

import numpy as np
import pytest

from isthmus._estimator import Estimator
from isthmus._parameters import constraints_of
from isthmus.testing import all_estimators
from tests.campaign import (
    bad_inputs,
    bad_parameters,
    functions,
    interrupts,
    invariants,
    pieces,
    precision,
    scales,
)
from tests.campaign.subjects import subjects
from tests.test_contract import REQUIRED

# The tables are small, and settling is not the point.
pytestmark = pytest.mark.filterwarnings("ignore")

DEFAULTS = subjects(variants=False)
SLOW = ("UnsupervisedKernelRegression", "ManifoldClassifier", "TwinGaussianProcess", "Imitation")
QUICK = [s for s in DEFAULTS if not s.name.startswith(SLOW)]


def defects(found):
    return {name: outcome for name, outcome in found.items() if outcome not in WELL}


WELL = ("answered", "refused")


@pytest.mark.parametrize("cls", [e.cls for e in all_estimators()], ids=lambda c: c.__name__)
def test_every_parameter_has_a_line_in_the_table(cls):
    assert issubclass(cls, Estimator)
    parameters = set(cls(**REQUIRED.get(cls.__name__, {})).get_params(deep=False))
    assert parameters == set(constraints_of(cls))


@pytest.mark.parametrize("cls", [e.cls for e in all_estimators()], ids=lambda c: c.__name__)
def test_every_fit_is_all_or_nothing(cls):
    learning = [n for n in dir(cls) if n.startswith(("fit", "partial_fit"))]
    for name in learning:
        method = getattr(cls, name, None)
        if callable(method) and method.__module__.startswith("isthmus"):
            assert hasattr(method, "guards"), name


@pytest.mark.parametrize("number", range(len(QUICK)), ids=lambda i: QUICK[i].name.split("(")[0])
def test_bad_data(number):
    assert not defects(_few_inputs(QUICK[number], number))


def _few_inputs(subject, number):
    rows = list(bad_inputs.bad_rows(subject.X).items())[number % 7 :: 7]
    found = {
        f"X {name}": bad_inputs.refit(subject, name, X, bad_inputs.outputs_for(subject, X))
        for name, X in rows
    }
    if subject.y is not None:
        outputs = subject.bad_outputs()
        outputs = bad_inputs.bad_outputs(subject.y) if outputs is None else outputs
        for name, y in list(outputs.items())[number % 5 :: 5]:
            found[f"y {name}"] = bad_inputs.refit(subject, name, subject.X, y, given=True)
    return found


@pytest.mark.parametrize("number", range(len(QUICK)), ids=lambda i: QUICK[i].name.split("(")[0])
def test_bad_parameters(number):
    subject = QUICK[number]
    table = constraints_of(type(subject.estimator))
    for i, parameter in enumerate(sorted(table)):
        refused = [(k, v) for k, v in bad_parameters.BAD.items() if not table[parameter].accepts(v)]
        for name, value in refused[(number + i) % 3 :: 3]:
            outcome = bad_parameters.outcome(subject, parameter, value, table)
            assert outcome == "refused", (parameter, name, outcome)


@pytest.mark.parametrize("number", range(len(QUICK)), ids=lambda i: QUICK[i].name.split("(")[0])
def test_what_must_not_matter(number):
    found = dict(invariants.cases(QUICK[number], only=("refit after other data", "pickle", "fork")))
    assert not defects(found)


@pytest.mark.parametrize("number", range(len(QUICK)), ids=lambda i: QUICK[i].name.split("(")[0])
def test_units(number):
    assert not defects(dict(scales.cases(QUICK[number])))
    assert not defects(dict(precision.cases(QUICK[number])))


@pytest.mark.parametrize("number", range(len(QUICK)), ids=lambda i: QUICK[i].name.split("(")[0])
def test_an_interrupt_leaves_a_whole_model(number):
    assert not defects(dict(interrupts.cases(QUICK[number], n_times=2, seed=number)))


@pytest.mark.parametrize("number", range(len(functions.functions())))
def test_functions(number):
    assert not defects(dict(functions.cases(functions.functions()[number])))


@pytest.mark.parametrize("number", range(len(pieces.pieces())))
def test_parameters_of_kernels_and_losses(number):
    assert not defects(dict(pieces.cases(pieces.pieces()[number])))


def test_a_step_of_a_stream_that_fails_is_undone():
    class Mean(Estimator):
        def partial_fit(self, X, y=None):
            if not hasattr(self, "sum_"):
                self.sum_, self.n_ = np.zeros(2), 0
            self.sum_ += X.sum(axis=0)  # in place
            self.n_ += len(X)
            if np.isnan(X).any():
                raise ValueError("NaN")
            return self

    model = Mean().partial_fit(np.ones((3, 2)))
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((1, 2), np.nan))
    assert model.n_ == 3
    assert np.array_equal(model.sum_, [3, 3])


@pytest.mark.parametrize("kind", [SystemError, TypeError])
def test_an_interrupt_that_a_compiled_call_has_wrapped_is_still_one(kind):
    class Compiled(Estimator):
        def fit(self, X, y=None):
            self.half_ = 1
            raise kind("returned a result with an exception set") from KeyboardInterrupt()

    model = Compiled()
    with pytest.raises(KeyboardInterrupt):
        model.fit(0)
    assert not hasattr(model, "half_")


def test_a_warning_points_to_the_caller():
    from isthmus.features import SlowFeatureAnalysis

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SlowFeatureAnalysis(expansion=2).fit(np.random.default_rng(0).normal(size=(30, 4)))
    assert caught
    assert all(w.filename == __file__ for w in caught)
