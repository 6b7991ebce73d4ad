"""The real data sets of published experiments, from the folder that ``ISTHMUS_DATA`` names.

Every function verifies the checksum of its file and returns a
:class:`sklearn.utils.Bunch`. Without the data folder they raise
:class:`~isthmus.datasets.DataNotAvailable`. Images are flattened row by row.
"""

import numpy as np
from sklearn.utils import Bunch

from isthmus.datasets.store import DataNotAvailable, is_available, load_csv, load_npz

IDA_NAMES = (
    "banana", "breast_cancer", "diabetis", "flare_solar", "german", "heart",
    "image", "splice", "thyroid", "titanic", "twonorm", "waveform",
)  # fmt: skip


def _split(n_train, **arrays):
    """Bunch of ``name_train`` and ``name_test`` for rows before and after ``n_train``."""
    parts = {}
    for name, values in arrays.items():
        parts[f"{name}_train"], parts[f"{name}_test"] = values[:n_train], values[n_train:]
    return Bunch(**parts)


def _unit(bytes_):
    """Bytes 0..255 as float32 in [0, 1]."""
    return bytes_.astype(np.float32) / 255


def _with_images(X, shape, **rest):
    """Bunch of grey values ``X`` and of ``images``, the same unflattened."""
    return Bunch(X=X, images=X.reshape(-1, *shape), **rest)


def load_usps():
    """USPS zip-code digits, 7291 for training and 2007 for testing.

    ``X_train`` (7291, 256), ``X_test`` (2007, 256): 16 × 16 pixels in [-1, 1];
    ``y_train``, ``y_test`` the digits 0..9. From the R package ElemStatLearn.
    """
    return Bunch(**load_npz("usps/usps_zip.npz"))


def load_usps_roweis():
    """USPS digits in equal classes, 1100 of each, in the order 1..9, 0.

    ``X`` (11000, 256): 16 × 16 pixels, integers 0..255; ``y`` the digits. The labels of
    sixes and sevens were restored by a classifier, the order within them is arbitrary.
    """
    return Bunch(**load_npz("usps/usps_roweis.npz"))


def load_oilflow():
    """Gamma-ray readings of an oil pipeline in three flow regimes.

    ``X_train``, ``X_valid``, ``X_test`` (1000, 12 each) simulated densitometer readings;
    ``y_*`` the regime 0..2; ``fractions_*`` (1000, 2) fractions of two phases in [0, 1].
    From GPmat ("3Class").
    """
    return Bunch(**load_npz("oilflow/oilflow.npz"))


def load_cbcl_faces():
    """Faces of the MIT CBCL face data base #1.

    ``X`` (2429, 361) grey values in [0, 1], ``images`` (2429, 19, 19).
    """
    return _with_images(_unit(load_npz("faces_cbcl/faces_cbcl.npz")["X"]), (19, 19))


def load_olivetti():
    """Faces of 40 people, ten pictures each (AT&T Laboratories Cambridge).

    ``X`` (400, 4096) grey values in [0, 1], ``images`` (400, 64, 64), ``subject`` 0..39.
    Without a copy in the data folder, scikit-learn's
    :func:`~sklearn.datasets.fetch_olivetti_faces` is used, which keeps its own
    copy and needs the network the first time.
    """
    if is_available("faces_olivetti"):
        arrays = load_npz("faces_olivetti/faces_olivetti.npz")
        return _with_images(_unit(arrays["X"]), (64, 64), subject=arrays["subject"])
    from sklearn.datasets import fetch_olivetti_faces

    try:
        faces = fetch_olivetti_faces(n_retries=1)
    except OSError as error:
        raise DataNotAvailable(
            "The Olivetti faces are not available: no copy in the folder that ISTHMUS_DATA names, "
            f"none kept by scikit-learn, and the download failed ({error}). Set ISTHMUS_DATA to "
            "the folder of the data sets, or run once with network access."
        ) from error
    return _with_images(faces.data, (64, 64), subject=faces.target)


def load_poser():
    """Human poses from silhouettes: 100 shape-context values to 21 joint positions.

    ``X_train`` (1927, 100), ``Y_train`` (1927, 63), ``X_test`` (418, 100), ``Y_test``
    (418, 63); ``Y.reshape(-1, 21, 3)`` are positions, the figure is about 60 units tall.
    The test rows are one continuous sequence. Data by Agarwal and Triggs, from GPmat.
    """
    return Bunch(**load_npz("poser_silhouette/poser_silhouette.npz"))


def load_ida(name):
    """One of the two-class sets of the IDA benchmark.

    ``X`` (n, d) and ``y`` in {-1, +1}. ``diabetis``, ``heart`` and ``twonorm`` are in
    original units, ``flare_solar`` and ``splice`` are integer codes, the others are
    standardised as in the benchmark. The published splits are not included.

    Parameters
    ----------
    name : str
        One of ``banana`` (5300, 2), ``breast_cancer`` (277, 9), ``diabetis`` (768, 8),
        ``flare_solar`` (1066, 9), ``german`` (1000, 20), ``heart`` (270, 13),
        ``image`` (2310, 18), ``splice`` (3175, 60), ``thyroid`` (215, 5),
        ``titanic`` (2201, 3), ``twonorm`` (7400, 20), ``waveform`` (5000, 21).
    """
    if name not in IDA_NAMES:
        raise ValueError(
            f"The 'name' parameter of load_ida must be one of {', '.join(IDA_NAMES)}. "
            f"Got {name!r} instead."
        )
    return Bunch(**load_npz(f"ida/{name}.npz"))


def load_letter():
    """Letter recognition (UCI): first 16000 rows for training, last 4000 for testing.

    ``X_train`` (16000, 16), ``X_test`` (4000, 16) integers 0..15 that describe a
    printed letter; ``y_train``, ``y_test`` 0..25, 0 is A; ``feature_names``.
    """
    arrays = load_npz("letter/letter.npz")
    split = _split(16000, X=arrays["X"], y=arrays["y"])
    return Bunch(**split, feature_names=arrays["feature_names"])


def load_abalone():
    """Age of abalone (UCI): first 3133 rows for training, last 1044 for testing.

    ``X_train`` (3133, 8), ``X_test`` (1044, 8): sex (1 male, 2 female, 3 infant), lengths
    and weights in units of 200 mm and 200 g; ``y_*`` the number of rings; ``frame`` the
    table with ``sex`` as M, F, I; ``feature_names``.
    """
    frame = load_csv("abalone/abalone.csv.gz")
    inputs = frame.drop(columns="rings")
    X = inputs.assign(sex=frame["sex"].map({"M": 1.0, "F": 2.0, "I": 3.0})).to_numpy(dtype=float)
    split = _split(3133, X=X, y=frame["rings"].to_numpy(dtype=float))
    return Bunch(**split, frame=frame, feature_names=list(inputs.columns))


def load_pumadyn():
    """Simulated Puma arm (DELVE pumadyn-32nm): joint state to an angular acceleration.

    ``X`` (8192, 32) angles, velocities, torques and other parameters, ``y`` (8192,).
    """
    return Bunch(**load_npz("pumadyn32nm/pumadyn32nm.npz"))


def load_kin8nm():
    """Simulated eight-link arm (DELVE kin-8nm): joint angles to distance from a target.

    ``X`` (8192, 8) in radians, ``y`` (8192,) distance of the end effector.
    """
    return Bunch(**load_npz("kin8nm/kin8nm.npz"))


def load_boston():
    """Boston housing (StatLib): 13 descriptions of a census tract to its median house value.

    ``X`` (506, 13), ``y`` (506,) in thousands of dollars, ``feature_names``.
    """
    frame = load_csv("boston/boston.csv.gz")
    inputs = frame.drop(columns="medv")
    return Bunch(
        X=inputs.to_numpy(dtype=float),
        y=frame["medv"].to_numpy(dtype=float),
        feature_names=list(inputs.columns),
    )


def load_music_origin():
    """Geographical origin of music (UCI): audio features to latitude and longitude.

    ``X`` (1059, 116) standardised audio features, ``Y`` (1059, 2) degrees, ``country``.
    """
    arrays = load_npz("music_origin/music_origin.npz")
    return Bunch(X=arrays["X"], Y=arrays["latlon"], country=arrays["country"])


def load_blogfeedback():
    """Blog feedback (UCI): features of a post to its comments in the next 24 hours.

    ``X_train`` (52397, 280), ``y_train``, ``X_test`` (7624, 280), ``y_test`` counts,
    ``test_day`` 0..59, which of the sixty test files a row comes from.
    """
    return Bunch(**load_npz("blogfeedback/blogfeedback.npz"))


def load_uji_indoor():
    """UJIIndoorLoc (UCI): strengths of 520 wireless access points to a position.

    ``X_train`` (19937, 520), ``X_test`` (1111, 520) in dBm, -104..0, where 100 means not
    heard; ``Y_train``, ``Y_test`` (n, 2) longitude and latitude in metres; ``meta_*``
    (n, 6) with ``meta_names`` (floor, building, ...); ``time_*`` seconds since 1970.
    """
    arrays = load_npz("uji_indoor/uji_indoor.npz")
    arrays["Y_train"], arrays["Y_test"] = arrays.pop("lonlat_train"), arrays.pop("lonlat_test")
    return Bunch(**arrays)


def load_ct_slices():
    """A sample of the CT slices (UCI): histograms of a slice to its height in the body.

    ``X`` (757, 384), ``y`` (757,) relative axial position 0..180, ``patient``. Only 757 of
    53500 rows, most of them of two patients: for smoke tests, not for conclusions.
    """
    return Bunch(**load_npz("ct_slices_sample/ct_slices_sample.npz"))


def load_mutag():
    """MUTAG: 188 molecules as labelled graphs, mutagenic or not (TUDataset).

    ``edges`` (3721, 2) global node numbers, each bond once, ``edge_label``; ``node_graph``
    (3371,) graph of a node, ``node_label``; ``graph_label`` (188,) in {-1, +1};
    ``node_names``, ``edge_names`` say what the labels mean.
    """
    return Bunch(**load_npz("mutag/mutag.npz"))


def load_leukemia():
    """Gene expression of 38 leukaemia samples (Golub et al. 1999), non-negative.

    ``X`` (5000 genes, 38 samples): samples are columns, as factorisations expect;
    ``label`` (38,) 19 ALL-B, 8 ALL-T, 11 AML; ``sample`` and ``gene`` names.
    """
    return Bunch(**load_npz("leukemia_golub/leukemia_golub.npz"))


def load_ap_text():
    """Word counts of 2246 Associated Press articles.

    ``X`` (2246, 10473) :class:`scipy.sparse.csr_array` of counts, ``terms`` (10473,).
    From the R package topicmodels.
    """
    from scipy.sparse import csr_array

    arrays = load_npz("ap_text/ap_text.npz")
    parts = (arrays["data"].astype(float), arrays["indices"].astype(np.int32), arrays["indptr"])
    return Bunch(X=csr_array(parts, shape=tuple(arrays["shape"])), terms=arrays["terms"])


def load_baseball():
    """Batting averages of 18 players in 1970 (Efron and Morris).

    ``frame`` with ``name``, ``team``, ``league``, ``hits_first45``, ``avg_first45``,
    ``at_bats_rest``, ``avg_rest``; ``X`` (18,) the average of the first 45 at-bats and
    ``y`` (18,) that of the rest of the season.
    """
    frame = load_csv("baseball/baseball.csv")
    return Bunch(X=frame["avg_first45"].to_numpy(), y=frame["avg_rest"].to_numpy(), frame=frame)


def load_unmixing():
    """A mixed hyperspectral image: nine materials in 100 × 100 pixels.

    ``spectra`` (221 bands, 9), ``abundance`` (100, 100, 9) shares that sum to 1;
    ``X`` (10000, 221) the mixed image, ``abundance @ spectra.T``. From NMFLibrary.
    """
    arrays = load_npz("unmixing/unmixing.npz")
    mixed = arrays["abundance"].reshape(-1, 9) @ arrays["spectra"].T
    return Bunch(X=mixed, **arrays)


def load_cmu_mocap():
    """Human poses from drawn silhouettes of CMU motion-capture sequences.

    ``X`` (7769, 810) gradient histograms in [0, 1], 270 for each of the cameras at 0, 120
    and 240 degrees; ``Y`` (7769, 60) positions of 20 joints in mm, y up; ``action``
    with ``action_names``, ``subject``, ``sequence``, ``frame`` (of 120 Hz), ``joint_names``.
    The data come from mocap.cs.cmu.edu; the histograms are computed, not measured.
    """
    arrays = load_npz("cmu_mocap/cmu_mocap.npz")
    histograms = load_npz("cmu_mocap/cmu_mocap_hog.npz")["X"]
    joints = arrays.pop("joints_mm").astype(np.float32)
    return Bunch(X=_unit(histograms), Y=joints, **arrays)
