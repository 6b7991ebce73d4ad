"""Data: seeded generators, tasks on digits that ship with scikit-learn, real sets.

The real sets (``load_usps`` and so on) are read from the folder that the
environment variable ``ISTHMUS_DATA`` names, after their checksums agree;
everything else needs neither files nor network.
"""

from isthmus.datasets._faces import make_faces
from isthmus.datasets._generators import (
    make_circle_map,
    make_multilabel,
    make_s_shape,
    make_strings,
)
from isthmus.datasets._manifolds import (
    distance_to_manifold,
    make_fish_bowl,
    make_half_circle,
    make_noisy_spiral,
    make_noisy_swiss_roll,
    make_s_triangle,
)
from isthmus.datasets._real import (
    IDA_NAMES,
    load_abalone,
    load_ap_text,
    load_baseball,
    load_blogfeedback,
    load_boston,
    load_cbcl_faces,
    load_cmu_mocap,
    load_ct_slices,
    load_ida,
    load_kin8nm,
    load_letter,
    load_leukemia,
    load_music_origin,
    load_mutag,
    load_oilflow,
    load_olivetti,
    load_poser,
    load_pumadyn,
    load_uji_indoor,
    load_unmixing,
    load_usps,
    load_usps_roweis,
)
from isthmus.datasets._scenes import make_imitation_scenes
from isthmus.datasets._series import make_cylinder_bell_funnel, make_warped_shapes
from isthmus.datasets._shipped import load_digits_completion, load_noisy_digits
from isthmus.datasets._store import ChecksumMismatch, DataNotAvailable, data_home, is_available

__all__ = [
    "IDA_NAMES",
    "ChecksumMismatch",
    "DataNotAvailable",
    "data_home",
    "distance_to_manifold",
    "is_available",
    "load_abalone",
    "load_ap_text",
    "load_baseball",
    "load_blogfeedback",
    "load_boston",
    "load_cbcl_faces",
    "load_cmu_mocap",
    "load_ct_slices",
    "load_digits_completion",
    "load_ida",
    "load_kin8nm",
    "load_letter",
    "load_leukemia",
    "load_music_origin",
    "load_mutag",
    "load_noisy_digits",
    "load_oilflow",
    "load_olivetti",
    "load_poser",
    "load_pumadyn",
    "load_uji_indoor",
    "load_unmixing",
    "load_usps",
    "load_usps_roweis",
    "make_circle_map",
    "make_cylinder_bell_funnel",
    "make_faces",
    "make_fish_bowl",
    "make_half_circle",
    "make_imitation_scenes",
    "make_multilabel",
    "make_noisy_spiral",
    "make_noisy_swiss_roll",
    "make_s_shape",
    "make_s_triangle",
    "make_strings",
    "make_warped_shapes",
]
