"""Where a face stands: similarity transforms between photos and aligned crops.

All matrices are (2, 3) and act on pixel coordinates whose pixel centres are whole numbers. Every
function takes one face or a stack of them, the stack's axes first.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from everyface.arrays import F32, F64, U8, AnyArray
from everyface.faces.faceset import FaceSet
from everyface.faces.mesh import LEFT_EYE, MOUTH_CORNERS, RIGHT_EYE

FACE = 512
"""Side of an aligned crop in pixels."""


def face_transform(points: AnyArray, size: int = FACE) -> F64:
    """Return the photo → crop matrix of the FFHQ frame: the head with its hair, eyes level.

    Parameters
    ----------
    points
        (..., 478, 3) mesh points in photo pixels.
    size
        Side of the crop.

    Notes
    -----
    The square is that of Karras et al. (StyleGAN, 2019, FFHQ's `recreate_aligned_images`): its half
    side is the larger of 2.0 eye distances and 1.8 eye-to-mouth distances, its centre lies a tenth
    of the way from the eyes to the mouth. Eyes are the means of their contours, and
    distances are taken in three dimensions, so that a turned head keeps its size.
    """
    points = np.asarray(points, dtype=np.float64)
    left = points[..., LEFT_EYE, :].mean(axis=-2)
    right = points[..., RIGHT_EYE, :].mean(axis=-2)
    across = right - left
    eyes = (left + right) / 2
    down = points[..., MOUTH_CORNERS, :].mean(axis=-2) - eyes
    half = np.maximum(2.0 * _norm(across), 1.8 * _norm(down))
    axis = across[..., :2] + np.stack([down[..., 1], -down[..., 0]], axis=-1)
    axis /= np.maximum(_norm(axis), 1e-9)[..., None]
    centre = eyes[..., :2] + 0.1 * down[..., :2]
    scale = size / np.maximum(2 * half, 1e-9)
    return _similarity(axis, scale, centre, size)


def crop(photo: U8, matrix: AnyArray, size: int = FACE, border: int = cv2.BORDER_REFLECT_101) -> U8:
    """Cut one aligned square out of a photo without aliasing, however large the face.

    Shrinking happens in two steps: whole factors by area means on the part of the photo that is
    needed, the rest by a warp at twice the size that is area-averaged down.

    Parameters
    ----------
    photo
        (h, w, 3) or (h, w).
    matrix
        Photo → crop.
    size
        Side of the crop.
    border
        OpenCV's border mode, for crops that reach over the photo's edge.
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    shrink = 1 / scale_of(matrix)
    factor = max(1, math.floor(shrink + 1e-6))
    if factor > 1:
        photo, matrix = _shrunk(photo, matrix, size, factor)
    if shrink <= 1:
        return _warp(photo, matrix, size, cv2.INTER_CUBIC, border)
    double = matrix * 2
    double[:, 2] += 0.5
    large = _warp(photo, double, size * 2, cv2.INTER_LINEAR, border)
    small: U8 = cv2.resize(large, (size, size), interpolation=cv2.INTER_AREA)
    return small


def apply(matrix: AnyArray, points: AnyArray) -> F32:
    """Move (..., n, 2 or 3) points by (..., 2, 3) matrices; z is scaled as x and y are."""
    matrix = np.asarray(matrix, dtype=np.float64)
    points = np.asarray(points, dtype=np.float64)
    moved = points[..., :2] @ np.swapaxes(matrix[..., :2], -1, -2) + matrix[..., None, :, 2]
    if points.shape[-1] == 3:
        depth = points[..., 2:] * np.asarray(scale_of(matrix))[..., None, None]
        moved = np.concatenate([moved, depth], axis=-1)
    return moved.astype(np.float32)


def invert(matrix: AnyArray) -> F64:
    """Return the matrices that lead back."""
    matrix = np.asarray(matrix, dtype=np.float64)
    turn = np.linalg.inv(matrix[..., :2])
    return np.concatenate([turn, -(turn @ matrix[..., 2:])], axis=-1)


def scale_of(matrix: AnyArray) -> F64:
    """Return by how much similarity matrices enlarge."""
    matrix = np.asarray(matrix, dtype=np.float64)
    return np.asarray(np.sqrt(np.abs(np.linalg.det(matrix[..., :2]))))


def procrustes(points: AnyArray, reference: AnyArray, indices: AnyArray | None = None) -> F64:
    """Return the similarity (no mirror) that best lays `points` on `reference`, least squares.

    Parameters
    ----------
    points, reference
        (..., n, 2 or more); only x and y count.
    indices
        The points to go by; all of them when None. The thesis (ch. 6) aligns by the inner eye
        corners and the nose tip.
    """
    a = np.asarray(points, dtype=np.float64)[..., :2]
    b = np.asarray(reference, dtype=np.float64)[..., :2]
    if indices is not None:
        a, b = a[..., indices, :], b[..., indices, :]
    from_, to = a.mean(axis=-2), b.mean(axis=-2)
    a, b = a - from_[..., None, :], b - to[..., None, :]
    energy = np.maximum((a * a).sum(axis=(-1, -2)), 1e-12)
    u = (a * b).sum(axis=(-1, -2)) / energy
    v = (a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]).sum(axis=-1) / energy
    turn = np.stack([np.stack([u, -v], axis=-1), np.stack([v, u], axis=-1)], axis=-2)
    shift = to[..., None] - turn @ from_[..., None]
    return np.concatenate([turn, shift], axis=-1)


def crop_points(faces: FaceSet) -> F32:
    """Return the mesh of every row in pixels of its crop, (n, 478, 3)."""
    return apply(face_transform(faces.points, faces.size), faces.points)


def _norm(vectors: F64) -> F64:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))


def _similarity(axis: F64, scale: F64, centre: F64, size: int) -> F64:
    """Turn the unit `axis` to the right, scale, and bring `centre` to the crop's middle."""
    cos, sin = axis[..., 0] * scale, axis[..., 1] * scale
    turn = np.stack([np.stack([cos, sin], axis=-1), np.stack([-sin, cos], axis=-1)], axis=-2)
    shift = (size - 1) / 2 - turn @ centre[..., None]
    return np.concatenate([turn, shift], axis=-1)


def _warp(photo: U8, matrix: F64, size: int, flags: int, border: int) -> U8:
    drawn: U8 = cv2.warpAffine(photo, matrix, (size, size), flags=flags, borderMode=border)
    return drawn


def _shrunk(photo: U8, matrix: F64, size: int, factor: int) -> tuple[U8, F64]:
    """Shrink the part of the photo that the crop needs by a whole factor."""
    corners = np.array([[0, 0], [size, 0], [0, size], [size, size]], dtype=np.float64) - 0.5
    reach = apply(invert(matrix), corners)
    height, width = photo.shape[:2]
    x0, y0 = np.clip(np.floor(reach.min(axis=0)).astype(int) - 2 * factor, 0, (width, height))
    x1, y1 = np.clip(np.ceil(reach.max(axis=0)).astype(int) + 2 * factor, 0, (width, height))
    if x1 - x0 < factor or y1 - y0 < factor:
        return photo, matrix
    across, down = (x1 - x0) // factor, (y1 - y0) // factor
    part = photo[y0 : y0 + down * factor, x0 : x0 + across * factor]
    small: U8 = cv2.resize(part, (across, down), interpolation=cv2.INTER_AREA)
    middle = (factor - 1) / 2
    back = np.array([[factor, 0, x0 + middle], [0, factor, y0 + middle], [0, 0, 1]])
    return small, matrix @ back
