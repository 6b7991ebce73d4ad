"""The examples in the docstrings of public classes.

A public class names its family as its module, so that files and pickles do not know where code
lives; pytest's own collection would take it for an import and pass over it.
"""

import doctest
from importlib import import_module

import pytest

import isthmus
from isthmus._lazy import homes


def public_classes():
    for family in isthmus._FAMILIES:
        module = import_module(f"isthmus.{family}")
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, type):
                yield pytest.param(thing, id=f"{family}.{name}")


@pytest.mark.parametrize("cls", list(public_classes()))
def test_examples_of_a_public_class_run(cls):
    family = import_module(cls.__module__)
    source = vars(import_module(homes(cls.__module__)[cls.__name__]))
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(verbose=False)
    for example in finder.find(cls, cls.__name__, module=family, globs=dict(source)):
        out = []
        runner.run(example, out=out.append)
        assert not runner.failures, "".join(out)


@pytest.mark.parametrize("cls", list(public_classes()))
def test_a_public_class_names_its_family(cls):
    assert getattr(import_module(cls.__module__), cls.__name__) is cls
    assert cls.__module__.count(".") == 1
