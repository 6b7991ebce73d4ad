"""The list of all public estimators."""

import inspect

import pytest
from sklearn.base import BaseEstimator

import isthmus
from isthmus.testing import all_estimators


def test_a_family_and_all_of_them():
    every = all_estimators()
    assert [e for e in every if e.family == "preimage"] == all_estimators("preimage")
    assert len({e.cls for e in every}) == len(every) > 40
    for family, name, cls in every:
        assert getattr(getattr(isthmus, family), name) is cls
        assert cls.__module__ == f"isthmus.{family}"
        assert issubclass(cls, BaseEstimator)
        assert not inspect.isabstract(cls)


def test_a_family_that_is_not_there():
    with pytest.raises(ValueError, match=r"must be one of .*, structured or None. Got 'kernel'"):
        all_estimators("kernel")
