"""The slots of the square: what may stand in them, and what stands there by default."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.base import clone, is_classifier, is_outlier_detector
from sklearn.linear_model import RidgeCV
from sklearn.multioutput import MultiOutputRegressor

from isthmus._checks import shortened
from isthmus._parameters import condition
from isthmus.features.kernel_pca.estimator import KernelPCA
from isthmus.kernels.base import Kernel
from isthmus.kernels.resolve import as_kernel
from isthmus.kernels.vectors.dot import Linear
from isthmus.preimage.default import default_preimage
from isthmus.regression.ridge.estimator import DEFAULT_ALPHAS, KernelRidgeCV
from isthmus.typing import CAPABILITIES, OBJECT_KINDS, missing, needs, provides, require

PASSTHROUGH = "passthrough"
SHARE_OF_VECTORS = 0.99


def _may_be_a_part(value: Any) -> bool:
    return isinstance(value, (str, list, tuple)) or value is None or callable(value) or (
        hasattr(value, "fit") and not isinstance(value, type)
    )  # fmt: skip


#: What a slot may hold, as far as can be said without asking it.
a_slot = condition("a part with fit, a kernel, a name or None", _may_be_a_part)


def input_kernel(x_features: Any, regressor: Any) -> Kernel | None:
    """The kernel named for the inputs; None where another part says what an input is."""
    if x_features is None:
        return None if regressor is not None else as_kernel("gaussian")
    return as_kernel(x_features) if is_kernel(x_features) else None


def input_kinds(x_features: Any, regressor: Any) -> frozenset[str]:
    """What the parts say an input is."""
    kernel = input_kernel(x_features, regressor)
    if kernel is not None:
        return kernel.provides & OBJECT_KINDS
    passes = x_features is None or is_passthrough(x_features)
    part = regressor if passes else x_features
    return frozenset() if part is None else provides(part) & OBJECT_KINDS


def input_arrows(x_features: Any, regressor: Any) -> tuple[Any, Any]:
    """φ and T, unfitted; φ is None where T takes the inputs as they are."""
    if regressor is not None:
        check_slot("regressor", regressor, "predict")
        if is_classifier(regressor) or is_outlier_detector(regressor):
            raise TypeError(
                "The 'regressor' slot of DependencyEstimator predicts coordinates, which are "
                f"numbers. Got {shortened(regressor)}, which predicts classes."
            )
        regressor = clone(regressor)
    if x_features is None or is_kernel(x_features):
        if regressor is None:
            return None, KernelRidgeCV("auto" if x_features is None else x_features)
        return (None if x_features is None else KernelPCA(kernel=x_features)), regressor
    if is_passthrough(x_features):
        return None, KernelRidgeCV() if regressor is None else regressor
    check_slot("x_features", x_features, "transform")
    if regressor is None:
        # Coordinates of a kernel's feature space are curved enough for a linear map.
        linear = "expansion" in provides(x_features)
        regressor = RidgeCV(alphas=DEFAULT_ALPHAS) if linear else KernelRidgeCV()
    return clone(x_features), regressor


def output_features(y_features: Any) -> Any:
    """The features of the outputs, unfitted; None where they are coordinates already."""
    if y_features is None:
        return KernelPCA(kernel=Linear())
    if is_passthrough(y_features):
        return None
    if is_kernel(y_features):
        words = as_kernel(y_features).provides
        many = "vectors" in words and "linear" not in words
        return KernelPCA(SHARE_OF_VECTORS if many else None, kernel=y_features)
    check_slot("y_features", y_features, "transform")
    if "supervised" in provides(y_features):
        raise TypeError(
            f"The 'y_features' slot of DependencyEstimator got {shortened(y_features)}, which is "
            f"'supervised', that is, it asks for {CAPABILITIES['supervised']}: outputs have none."
        )
    return clone(y_features)


def output_preimage(preimage: Any, y_features: Any, regressor: Any, kinds: frozenset[str]) -> Any:
    """Γ, unfitted; None where the output features invert themselves.

    ``kinds`` says what an output is, by the features' word or, where they have none, the data's.
    """
    offered = kinds | (frozenset() if y_features is None else provides(y_features))
    if preimage is None:
        if y_features is None or "inverse" in offered:
            return None
        return default_preimage(y_features, vectors="vectors" in kinds)
    check_slot("preimage", preimage, "solve")
    if y_features is None and "weights" not in needs(preimage):
        raise ValueError('A preimage needs output features. Got y_features="passthrough" instead.')
    if "weights" in provides(regressor):
        offered |= {"weights"}
    require(
        preimage,
        offered,
        of=f"y_features={shortened(y_features)} with regressor={shortened(regressor)}",
        hint="CandidatePreimage takes any transformer of any objects, LearnedPreimage any of "
        "vectors.",
    )
    return clone(preimage)


def for_outputs(regressor: Any, n_outputs: int) -> Any:
    """The regressor, or one of it for each output where it cannot do several at once."""
    if n_outputs == 1 or "several_outputs" in provides(regressor):
        return regressor
    return MultiOutputRegressor(regressor)


@contextmanager
def learning_from(x_features: Any, n_outputs: int) -> Iterator[None]:
    """Say what is missing where a map that learns from one output alone is given several."""
    try:
        yield
    except (TypeError, ValueError) as error:
        tags = getattr(x_features, "__sklearn_tags__", None)
        if n_outputs == 1 or not callable(tags) or tags().target_tags.multi_output:
            raise
        raise TypeError(
            f"The 'x_features' slot of DependencyEstimator got {shortened(x_features)}, which does "
            f"not provide 'several_outputs', that is, {CAPABILITIES['several_outputs']}, and was "
            f"given {n_outputs} output coordinates: {error}"
        ) from error


def is_passthrough(slot: Any) -> bool:
    """Whether the slot lets things through as they are."""
    return isinstance(slot, str) and slot == PASSTHROUGH


def is_kernel(slot: Any) -> bool:
    """Whether a kernel is named: ours, scikit-learn's, or a function of two collections."""
    if isinstance(slot, str):
        return slot != PASSTHROUGH
    # Parts of the square have fit.
    return callable(slot) and not hasattr(slot, "fit") and not isinstance(slot, type)


def check_slot(name: str, part: Any, word: str) -> None:
    """Refuse a part that does not offer what its slot is for."""
    lacking = [] if isinstance(part, type) else missing({word}, provides(part))
    if isinstance(part, type) or lacking or not callable(getattr(part, "fit", None)):
        hint = f" Call it to make one: {part.__name__}()." if isinstance(part, type) else ""
        raise TypeError(
            f"The {name!r} slot of DependencyEstimator takes an object with fit that provides "
            f"{word!r}, that is, {CAPABILITIES[word]}. Got {shortened(part)} instead.{hint}"
        )
