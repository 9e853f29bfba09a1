"""Along the edge of the new face: no step, no dark fringe, no white patch."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from everyface.faces import FaceSet, read_photo
from everyface.merge import Surrogate, into_photo, place
from everyface.merge.photo import _draw
from everyface.merge.pose import face_size
from everyface.spaces import Appearance

LUMA = np.array([0.299, 0.587, 0.114], np.float32)
SHOWN = range(1, 24, 3)


def luma(image: np.ndarray) -> np.ndarray:
    return image.astype(np.float32) @ LUMA


def steepness(image: np.ndarray) -> np.ndarray:
    return np.asarray(np.hypot(*np.gradient(luma(image))))


@pytest.fixture(scope="module")
def trials(faces: FaceSet) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Photo, merged photo, photo with the face just laid over it, and the rim, of eight people.

    Each gets the mean of five photos of others."""
    space = Appearance().fit(faces)
    codes = space.transform(faces)
    held = []
    for row in SHOWN:
        others = np.flatnonzero(faces.subject != faces.subject[row])[row % 4 :: 4][:5]
        drawn = space.draw(codes[others].mean(axis=0, keepdims=True))
        face = Surrogate(drawn.images[0], drawn.points[0], drawn.masks[0])
        photo, target = read_photo(faces.photos[row]), faces.points[row]
        mesh = place(face.points, target)
        pixels, seen = _draw(face, mesh, photo.shape[:2])
        laid = np.where(seen[..., None] > 0.5, np.clip(pixels, 0, 255), photo)
        hull = (seen > 0.5).astype(np.uint8)
        away = cv2.distanceTransform(hull, cv2.DIST_L2, 5)
        away -= cv2.distanceTransform(1 - hull, cv2.DIST_L2, 5)
        rim = np.abs(away) < 0.02 * face_size(mesh)
        held.append((photo, into_photo(photo, target, face), laid, rim))
    return held


def test_no_step_stands_at_the_edge(trials) -> None:
    """What the rim is steeper than in the photo is less than half of what pasting makes it;
    measured 0.19 on twelve people."""
    excess = np.array(
        [
            [(steepness(image) - steepness(photo))[rim].mean() for image in (merged, laid)]
            for photo, merged, laid, rim in trials
        ]
    )
    merged, laid = excess.mean(axis=0)
    assert laid > 1
    assert merged < 0.4 * laid


def test_nothing_at_the_edge_is_darker_or_lighter_than_the_photo_is_near_it(trials) -> None:
    """A fringe or a patch would be beyond all that the photo shows in the neighbourhood."""
    share = []
    for photo, merged, laid, rim in trials:
        window = np.ones((31, 31), np.uint8)
        low, high = cv2.erode(luma(photo), window), cv2.dilate(luma(photo), window)
        for image in (merged, laid):
            beyond = np.maximum(luma(image) - high, low - luma(image)) > 20
            share.append(beyond[rim].mean())
    merged, laid = np.array(share).reshape(-1, 2).mean(axis=0)
    assert merged < 0.01
    assert merged < 0.25 * laid
