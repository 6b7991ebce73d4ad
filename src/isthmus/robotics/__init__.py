"""A body to move: kinematic chains, movements, and imitation learned from images."""

from isthmus.robotics._chain import KinematicChain
from isthmus.robotics._dexterity import Dexterity, dexterity
from isthmus.robotics._follow import JointPath, follow
from isthmus.robotics._imitation import ImitationModel
from isthmus.robotics._inverse import InverseKinematics, inverse_kinematics
from isthmus.robotics._morph import Correspondence, correspondence, morph
from isthmus.robotics._movement import MovementPrimitive, concatenate
from isthmus.robotics._pa10 import pa10
from isthmus.robotics._plane import PlaneMap, map_to_plane
from isthmus.robotics._pose_features import PoseFeatures
from isthmus.robotics._pose_kernel import PoseKernel
from isthmus.robotics._posture import Manipulability, PlaneNormal, initial_posture, plane_normals
from isthmus.robotics._segmentation import Segment, key_events, segment

__all__ = [
    "Correspondence",
    "Dexterity",
    "ImitationModel",
    "InverseKinematics",
    "JointPath",
    "KinematicChain",
    "Manipulability",
    "MovementPrimitive",
    "PlaneMap",
    "PlaneNormal",
    "PoseFeatures",
    "PoseKernel",
    "Segment",
    "concatenate",
    "correspondence",
    "dexterity",
    "follow",
    "initial_posture",
    "inverse_kinematics",
    "key_events",
    "map_to_plane",
    "morph",
    "pa10",
    "plane_normals",
    "segment",
]
