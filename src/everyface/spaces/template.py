"""The frontal mean face that aligned spaces lay faces on, and how a face is cut out."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np

from everyface.arrays import F32, U8
from everyface.faces.align import FACE, apply, face_transform
from everyface.faces.mesh import CANONICAL, OVAL

BACKDROP = 232.0
"""The grey on which cut-out faces stand."""

SOFT = 5.0
"""Pixels inside the contour over which the mask rises."""


@cache
def template() -> F32:
    """Return the mean frontal face, (478, 3) in pixels of an aligned crop."""
    face = CANONICAL.astype(np.float64)
    points = apply(face_transform(face), face)
    points.setflags(write=False)
    return points


def face_mask(points: F32, size: int) -> U8:
    """Return 255 inside the face's contour, falling softly to 0 at it."""
    sharp = np.zeros((size, size), np.uint8)
    outline = np.round(points[OVAL, :2] * 16).astype(np.int32)
    cv2.fillPoly(sharp, [outline], 1, lineType=cv2.LINE_8, shift=4)
    inside = cv2.distanceTransform(sharp, cv2.DIST_L2, 5)
    mask: U8 = np.round(np.clip(inside / SOFT, 0, 1) * 255).astype(np.uint8)
    return mask


def at_face_size(crop: U8) -> U8:
    """Return a crop at the size that spaces work in."""
    if crop.shape[0] == FACE:
        return np.asarray(crop)
    held: U8 = cv2.resize(crop, (FACE, FACE), interpolation=cv2.INTER_AREA)
    return held
