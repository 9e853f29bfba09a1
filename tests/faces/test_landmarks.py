"""Meshes stay on the face however it is shown; pose and expression mean what they say."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from everyface.faces import landmarks
from everyface.faces.align import crop_points
from everyface.faces.detection import Detections, detect, together
from everyface.faces.faceset import FaceSet
from everyface.faces.landmarks import EXPRESSIONS, expressions, meshes, pose
from everyface.faces.mesh import (
    CANONICAL,
    IRISES,
    LEFT_IRIS,
    LIPS_INNER,
    MIRROR,
    MOUTH_CORNERS,
    POINTS,
    RIGHT_IRIS,
)

from .pictures import scene, turned

SHOWN = (0, 5, 10, 15, 21)


def apart(points: np.ndarray) -> float:
    """Distance of the irises."""
    return float(np.linalg.norm(points[IRISES[0], :2] - points[IRISES[1], :2]))


def found(picture: np.ndarray) -> np.ndarray:
    candidates = detect([picture])[0].take(np.array([0]))
    result = meshes([picture], np.zeros(1, np.int32), candidates)
    assert result.presence[0] > 0.99
    return result.points[0]


def away(points: np.ndarray, wanted: np.ndarray) -> float:
    """Mean distance of points, in distances of the irises."""
    return float(np.linalg.norm(points[:, :2] - wanted[:, :2], axis=1).mean() / apart(wanted))


@pytest.mark.parametrize("number", SHOWN)
def test_scale(faces: FaceSet, portraits: list[np.ndarray], number: int) -> None:
    small = cv2.resize(portraits[number], (192, 192), interpolation=cv2.INTER_AREA)
    points = (found(small) + 0.5) * 512 / 192 - 0.5
    assert away(points, faces.points[number]) < 0.01
    depth = points[:, 2] - points[:, 2].mean()
    wanted = faces.points[number][:, 2] - faces.points[number][:, 2].mean()
    assert np.abs(depth - wanted).max() < 0.05 * apart(faces.points[number])


@pytest.mark.parametrize("number", SHOWN)
def test_flip(faces: FaceSet, portraits: list[np.ndarray], number: int) -> None:
    points = found(np.ascontiguousarray(portraits[number][:, ::-1]))[MIRROR]
    points[:, 0] = 511 - points[:, 0]
    assert away(points, faces.points[number]) < 0.04


@pytest.mark.parametrize("degrees", [30, 90, 180])
@pytest.mark.parametrize("number", SHOWN)
def test_rotation(faces: FaceSet, portraits: list[np.ndarray], number: int, degrees: float) -> None:
    picture, matrix = turned(portraits[number], degrees, 0.7)
    wanted = faces.points[number, :, :2] @ matrix[:, :2].T + matrix[:, 2]
    assert away(found(picture), wanted) < 0.02


def test_shift_moves_the_mesh_and_nothing_else(portraits: list[np.ndarray]) -> None:
    canvas = scene(600, 700)
    canvas[41:553, 87:599] = portraits[10]
    assert away(found(canvas) - [87, 41, 0], found(portraits[10])) < 0.005


def test_the_irises_lie_on_dark_pupils(faces: FaceSet, portraits: list[np.ndarray]) -> None:
    """What the picture itself says: the iris is darker than the eye around it, on nearly all."""
    darker = []
    for picture, points in zip(portraits, faces.points, strict=True):
        grey = cv2.GaussianBlur(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), (0, 0), 2)
        for iris, corners in ((468, (33, 133)), (473, (362, 263))):
            x, y = points[iris, :2].round().astype(int)
            ends = points[list(corners), :2]
            middle = ends.mean(axis=0)
            spots = (middle + 0.62 * (ends - middle)).round().astype(int)
            around = [grey[b, a] for a, b in spots]
            darker.append(int(grey[y, x]) < np.mean(around))
    assert np.mean(darker) > 0.85


def test_a_wall_is_no_face(portraits: list[np.ndarray]) -> None:
    candidate = detect([portraits[0]])[0].take(np.array([0]))
    rng = np.random.default_rng(0)
    wall = cv2.GaussianBlur(rng.integers(0, 256, (512, 512, 3), dtype=np.uint8), (0, 0), 4)
    assert meshes([wall], np.zeros(1, np.int32), candidate).presence[0] < 0.5


def test_meshes_come_in_the_order_of_the_candidates(portraits: list[np.ndarray]) -> None:
    """More than fit into one run of the network, from photos in any order."""
    candidates = [found_.take(np.array([0])) for found_ in detect(portraits[:3])]
    order = [2, 0, 1, 0, 2] * 8
    many = meshes(
        portraits[:3], np.array(order, np.int32), together([candidates[i] for i in order])
    )
    for row, number in enumerate(order):
        one = meshes([portraits[number]], np.zeros(1, np.int32), candidates[number])
        assert many.points[row].tobytes() == one.points[0].tobytes()
        assert many.presence[row] == one.presence[0]


def test_no_candidates_no_meshes() -> None:
    nothing: Detections = together([])
    empty = meshes([scene(64, 64)], np.zeros(0, np.int32), nothing)
    assert empty.points.shape == (0, POINTS, 3) and empty.presence.shape == (0,)


def rotation(yaw: float, pitch: float, roll: float) -> np.ndarray:
    """Nose to the right of the picture, nose up, clockwise, in degrees; x right, y down, z away."""
    a, b, c = np.radians([yaw, pitch, roll])
    about_y = np.array([[np.cos(a), 0, -np.sin(a)], [0, 1, 0], [np.sin(a), 0, np.cos(a)]])
    about_x = np.array([[1, 0, 0], [0, np.cos(b), np.sin(b)], [0, -np.sin(b), np.cos(b)]])
    about_z = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


@pytest.mark.parametrize(
    "angles", [(0, 0, 0), (35, 0, 0), (-20, 0, 0), (0, 25, 0), (0, 0, 100), (30, -20, 15)]
)
def test_pose_of_a_turned_head(angles: tuple[float, float, float]) -> None:
    turn = rotation(*angles)
    nose = turn @ [0, 0, -1]
    assert np.sign(nose[0].round(9)) == np.sign(angles[0]) or angles[2]
    seen = 17 * CANONICAL @ turn.T + [300, 200, 50]
    assert pose(seen[None])[0] == pytest.approx(angles, abs=0.01)


def test_yaw_to_the_right_pitch_up_roll_clockwise() -> None:
    """The signs, in words of the picture and not of matrices."""
    right, up, rolled = (
        CANONICAL @ rotation(*angles).T for angles in ((20, 0, 0), (0, 20, 0), (0, 0, 20))
    )
    level = CANONICAL[4] - CANONICAL[mesh_middle()].mean(axis=0)
    for turned_, axis, sign in ((right, 0, 1), (up, 1, -1)):
        nose = turned_[4] - turned_[mesh_middle()].mean(axis=0)
        assert sign * (nose[axis] - level[axis]) > 1
    assert rolled[IRISES[1], 1] > rolled[IRISES[0], 1] + 1  # clockwise: the right eye sinks


def mesh_middle() -> list[int]:
    """Both temples."""
    return [127, 356]


def test_pose_of_photos(faces: FaceSet, portraits: list[np.ndarray]) -> None:
    """A rolled photo rolls the pose; a mirrored one turns yaw and roll round."""
    number = 8
    picture, _ = turned(portraits[number], 40, 0.7)
    yaw, pitch, roll = faces.pose[number]
    assert pose(found(picture)[None])[0] == pytest.approx([yaw, pitch, roll + 40], abs=2)
    mirrored = found(np.ascontiguousarray(portraits[number][:, ::-1]))
    assert pose(mirrored[None])[0] == pytest.approx([-yaw, pitch, -roll], abs=4)
    assert abs(yaw) > 10


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.corrcoef(a, b)[0, 1])


def test_expressions(faces: FaceSet) -> None:
    """A wide mouth smiles, parted lips are an open jaw or lifted lips: on 24 faces."""
    points = crop_points(faces)
    found_ = expressions(points)
    assert found_.shape == (len(faces), len(EXPRESSIONS)) and found_.dtype == np.float32
    assert found_.min() >= 0 and found_.max() <= 1
    column = {name: found_[:, i] for i, name in enumerate(EXPRESSIONS)}
    eyes = np.array([apart(mesh) for mesh in points])
    width = np.linalg.norm(np.diff(points[:, MOUTH_CORNERS, :2], axis=1)[:, 0], axis=1) / eyes
    smile = column["mouthSmileLeft"] + column["mouthSmileRight"]
    assert correlation(smile, width) > 0.7
    gap = points[:, LIPS_INNER[15], 1] - points[:, LIPS_INNER[5], 1]
    open_ = column["jawOpen"] + column["mouthUpperUpLeft"] + column["mouthLowerDownLeft"]
    assert correlation(open_, gap / eyes) > 0.7


def test_left_and_right_are_the_persons_own(faces: FaceSet) -> None:
    """Whose irises go to the right of the picture looks to the own left."""
    points = crop_points(faces)
    looking = points.copy()
    irises = np.concatenate([LEFT_IRIS, RIGHT_IRIS])
    looking[:, irises, 0] += 8
    change = (expressions(looking) - expressions(points)).mean(axis=0)
    by_name = dict(zip(EXPRESSIONS, change.tolist(), strict=True))
    assert by_name["eyeLookOutLeft"] > 0.1 and by_name["eyeLookInRight"] > 0.1
    assert by_name["eyeLookInLeft"] < 0 and by_name["eyeLookOutRight"] < 0


def test_expressions_of_nobody() -> None:
    assert expressions(np.zeros((0, POINTS, 3))).shape == (0, 52)
    assert len(set(EXPRESSIONS)) == 52
    assert landmarks._BLENDSHAPE_POINTS.shape == (146,)
