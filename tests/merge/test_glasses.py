"""Arms of glasses go with the old face; on those who wear none nothing is touched."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from everyface.faces import FaceSet
from everyface.faces.align import crop_points
from everyface.merge import glasses
from everyface.merge.frame import Box, Small
from everyface.merge.pose import face_size
from tests.merge.drawing import hull_of, mesh_of

SIDE = 320
SKIN, WALL = (205, 160, 135), (196, 158, 140)


@pytest.fixture(scope="module")
def mesh() -> np.ndarray:
    return mesh_of(SIDE)


@pytest.fixture(scope="module")
def hull(mesh: np.ndarray) -> np.ndarray:
    return hull_of(mesh, SIDE)


def drawn(mesh: np.ndarray, hull: np.ndarray, worn: bool) -> tuple[np.ndarray, np.ndarray]:
    """A plain face on plain ground, and where the arms of its glasses lie outside it."""
    image = np.full((SIDE, SIDE, 3), WALL, np.uint8)
    image[hull] = SKIN
    lines = np.zeros((SIDE, SIDE), np.uint8)
    if worn:
        left, right = (mesh[eye, :2].round().astype(int) for eye in (468, 473))
        for eye in (left, right):
            cv2.circle(image, eye.tolist(), 26, (20, 20, 20), 4)
        bridge = mesh[[9, 5], :2].mean(axis=0).round().astype(int)
        cv2.line(image, (bridge[0] - 20, bridge[1]), (bridge[0] + 20, bridge[1]), (20, 20, 20), 5)
        for x, side in ((int(left[0]) - 26, -1), (int(right[0]) + 26, 1)):
            start, end = (x, int(left[1])), (x + side * 62, int(left[1]) - 4)
            cv2.line(image, start, end, (20, 20, 20), 3)
            cv2.line(lines, start, end, 1, 3)
    image = cv2.GaussianBlur(image, (0, 0), 0.8)
    return image, (lines > 0) & ~hull


def test_a_bridge_is_seen_and_a_bare_nose_is_none(mesh: np.ndarray, hull: np.ndarray) -> None:
    size = float(np.sqrt(hull.sum()))
    assert glasses.worn(drawn(mesh, hull, worn=True)[0], mesh, size)
    assert not glasses.worn(drawn(mesh, hull, worn=False)[0], mesh, size)


def test_arms_run_outwards_from_the_face(mesh: np.ndarray, hull: np.ndarray) -> None:
    image, lines = drawn(mesh, hull, worn=True)
    found = glasses.arms(image, mesh, hull) > 0
    assert lines.sum() > 100
    assert found[lines].mean() > 0.6
    assert (found & ~hull).sum() < 4 * lines.sum()
    assert not (glasses.arms(drawn(mesh, hull, worn=False)[0], mesh, hull) > 0).any()


def test_arms_are_painted_over_and_nothing_else(mesh: np.ndarray, hull: np.ndarray) -> None:
    image, lines = drawn(mesh, hull, worn=True)
    box = Box(0, 0, SIDE, SIDE)
    small = Small.of(box, box, face_size(mesh))
    low = small.points(mesh)
    low_hull = cv2.resize(hull.astype(np.uint8), small.shape[::-1]) > 0
    made = glasses.removed(image, low, low_hull, small)
    wall = np.array(WALL)
    before, after = (np.abs(held[lines].astype(int) - wall).mean() for held in (image, made))
    assert after < 0.4 * before
    far = np.abs(np.arange(SIDE) - mesh[468, 1]) > 40
    assert (made[far] == image[far]).all()


def test_who_wears_none_keeps_every_byte(mesh: np.ndarray, hull: np.ndarray) -> None:
    image, _ = drawn(mesh, hull, worn=False)
    box = Box(0, 0, SIDE, SIDE)
    small = Small.of(box, box, face_size(mesh))
    low_hull = cv2.resize(hull.astype(np.uint8), small.shape[::-1]) > 0
    assert glasses.removed(image, small.points(mesh), low_hull, small) is image


def test_most_portraits_wear_none(faces: FaceSet) -> None:
    seen = [
        glasses.worn(image, points, face_size(points))
        for image, points in zip(faces.crops, crop_points(faces), strict=True)
    ]
    assert np.mean(seen) < 0.4
