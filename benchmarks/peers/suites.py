"""Which files of which peers, what is replaced in them, and what is known of their failures."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.peers import dependence, factorization, learning, processes, series, smoothing

OURS, THEIRS, CONVENTION = "ours", "the peer's", "convention"


@dataclass(frozen=True)
class Suite:
    """A test file that a peer has installed.

    Attributes
    ----------
    peer, module : the distribution, and the importable name of the file.
    replaced : what each name in the file stands for instead; a function is given the original.
    known : part of a test's name to whose the failure is, and why.
    without : part of the names of tests that call the peer's own class by its name, and so say
        nothing about ours.
    """

    peer: str
    module: str
    replaced: dict[str, Callable[[Any], Any]]
    known: dict[str, tuple[str, str]] = field(default_factory=dict)
    without: str = ""


def _as(new: Any) -> Callable[[Any], Any]:
    return lambda original: new


NO_EXACT = (CONVENTION, "we compute in floating point: no fractions, decimals, other array types")
RANK = (CONVENTION, "we refuse components without variance, where the peer returns zeros")
POWER = "TypeIError"  # the power is estimated by the peer's own class, found by its name

SUITES = (
    Suite(
        "scikit-learn",
        "sklearn.tests.test_kernel_ridge",
        {"KernelRidge": _as(learning.KernelRidge)},
        {
            "multi_output": (CONVENTION, "we have one penalty for all outputs"),
        },
    ),
    Suite(
        "scikit-learn",
        "sklearn.decomposition.tests.test_kernel_pca",
        {"KernelPCA": _as(learning.KernelPCA)},
        {
            "invalid_parameters": (CONVENTION, "another message"),
            "zero_eig": RANK,
            "solvers_equivalence": RANK,
            "non_symmetric": (CONVENTION, "we refuse a matrix that is not symmetric"),
            "kernel_conditioning": RANK,
            "not_psd": (CONVENTION, "refused with another message"),
        },
    ),
    Suite(
        "scikit-learn",
        "sklearn.linear_model.tests.test_omp",
        {"orthogonal_mp": _as(learning.orthogonal_mp)},
        {
            "path": (CONVENTION, "we return no path of codes"),
            "unreachable": (CONVENTION, "ours reaches it; the peer warns from a Gram matrix only"),
            "identical_regressors": (CONVENTION, "another category and text of the warning"),
        },
    ),
    Suite(
        "scikit-learn",
        "sklearn.decomposition.tests.test_nmf",
        {
            "NMF": _as(factorization.NMF),
            "non_negative_factorization": _as(factorization.non_negative_factorization),
        },
        {
            "convergence_warning": (CONVENTION, "ours has converged in its one iteration"),
            "parameter_checking": (CONVENTION, "another message"),
            "true_reconstruction": (CONVENTION, "1e-16 where exactly 0 is expected"),
            "sparse_input": (CONVENTION, "both fit exactly, by factors that differ by 1e-7"),
            "factorization_checking": (CONVENTION, "another message"),
            "factorization_consistency": (CONVENTION, "penalties of codes for given components"),
            "multiplicative_update_sparse": (CONVENTION, "our divergences have beta in [0, 10]"),
            "negative_beta": (CONVENTION, "our divergences have beta in [0, 10]"),
            "decreasing[mu]": (CONVENTION, "our divergences have beta in [0, 10]"),
            "decreasing[cd]": (THEIRS, "its sum counts squares twice; ours lowers the objective"),
            "float32_float64": (CONVENTION, "both types meet the tolerance, after other counts"),
            "custom_init": (CONVENTION, "another message"),
            "n_components_auto": (CONVENTION, "a private attribute of the peer"),
            "w_h_not_used": (CONVENTION, "our start and its use are one parameter"),
        },
        without="MiniBatch or minibatch or mbnmf or beta_divergence or special_sparse "
        "or initialize",
    ),
    Suite(
        "scikit-learn",
        "sklearn.decomposition.tests.test_dict_learning",
        {"sparse_encode": _as(factorization.sparse_encode)},
        {
            **dict.fromkeys(
                ("threshold", "lars", "shapes", "encode_input"),
                (CONVENTION, "we have no codes by least angles and by a threshold"),
            ),
            "dtype_match": (CONVENTION, "our functions return codes in double precision"),
        },
        without="not sparse_encode",
    ),
    Suite(
        "scikit-learn",
        "sklearn.gaussian_process.tests.test_gpr",
        {"GaussianProcessRegressor": _as(processes.GaussianProcessRegressor)},
        {
            "multioutput": (CONVENTION, "samples are drawn by the peer's own numbers"),
            "correct_error_message": (CONVENTION, "ours solves it"),
            "no_fit": (CONVENTION, "we predict after a fit only; sample_prior is before it"),
            "constant_target": (CONVENTION, "a private attribute of the peer"),
            "non_invertible": (CONVENTION, "one noise for all rows, none inside the kernel"),
            "fit_error": (CONVENTION, "one noise for all rows, none inside the kernel"),
            "lml_error": (CONVENTION, "no derivatives by parameters of the peer's kernels"),
            "predict_shapes": (CONVENTION, "a column of outputs is predicted as a column"),
            "n_targets": (CONVENTION, "the number of outputs is that of the fit"),
        },
        without="improving or local_maximum or inside_bounds or random_starts or optimizer or "
        "bounds or anisotropic or large_variance or prior or sample or gradient or bound_check",
    ),
    Suite(
        "scipy",
        "scipy.optimize.tests.test_nnls",
        {"nnls": _as(learning.nnls)},
        {
            "maxiter": (CONVENTION, "our steps are not limited by a parameter"),
            "deprecation": (CONVENTION, "a parameter of the peer's that is going away"),
            "gh21021_ex1": (CONVENTION, "more unknowns than rows: another solution of no error"),
            "gh_22791": (CONVENTION, "more unknowns than rows: another solution of equal error"),
            "2D_singleton": (CONVENTION, "a residual of 1e-15 where exactly 0 is expected"),
        },
    ),
    Suite(
        "statsmodels",
        "statsmodels.nonparametric.tests.test_kernel_regression",
        {"nparam": smoothing.statsmodels_nonparametric},
        {
            "mfx": (CONVENTION, "we return derivatives of the fit, the peer slopes of local lines"),
            "aic": (CONVENTION, "we choose bandwidths by leave-one-out only"),
        },
        without="ordered or mixed or censored or significance or hurvich or specified or invalid "
        "or efficient",
    ),
    Suite(
        "dcor",
        "dcor.tests.test_dcor",
        {"dcor": dependence.dcor_module},
        {"decimal": NO_EXACT, "fractions": NO_EXACT, "ArrayAPI": NO_EXACT},
    ),
    Suite(
        "dcor",
        "dcor.tests.test_energy",
        {"energy_distance": _as(dependence.energy_distance)},
        {"ArrayAPI": NO_EXACT},
    ),
    Suite(
        "hyppo",
        "hyppo.independence.tests.test_dcorr",
        {"Dcorr": _as(dependence.Dcorr)},
        without=POWER,
    ),
    Suite(
        "hyppo",
        "hyppo.independence.tests.test_hsic",
        {"Hsic": _as(dependence.Hsic)},
        without=POWER,
    ),
    Suite(
        "hyppo",
        "hyppo.ksample.tests.test_energy",
        {"Energy": _as(dependence.Energy)},
        {"against_dcor": (THEIRS, "dcor and the definition give another value than its table")},
        without=POWER,
    ),
    Suite(
        "hyppo",
        "hyppo.ksample.tests.test_mmd",
        {"MMD": _as(dependence.MMD)},
        without=POWER,
    ),
    Suite(
        "aeon",
        "aeon.distances.elastic.tests.test_distance_correctness",
        {
            name: _as(getattr(series, name))
            for name in ("dtw_distance", "ddtw_distance", "squared_distance", "euclidean_distance")
        },
    ),
)
