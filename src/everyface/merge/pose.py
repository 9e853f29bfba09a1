"""Where the surrogate's mesh lies when it takes the place of a face in a photo."""

from __future__ import annotations

import cv2
import numpy as np

from everyface.arrays import F32, F64
from everyface.faces.mesh import INNER_EYES, NOSE_TIP, RIGID

ANCHORS = np.r_[INNER_EYES, NOSE_TIP]
"""Inner eye corners and nose tip, the landmarks that the thesis aligns on (section 6.2)."""

MOST_SHIFT = 0.13
"""How far the face's outline may move, as a share of the face's size."""


def similarity(source: F64, target: F64, weights: F64) -> F64:
    """Return the weighted least-squares similarity `source` → `target` as (3, 4).

    Umeyama's closed form: rotation from the singular vectors of the cross-covariance, reflections
    excluded; one scale; the translation that joins the weighted centres.
    """
    weights = weights / weights.sum()
    centre, goal = weights @ source, weights @ target
    a, b = source - centre, target - goal
    u, s, vt = np.linalg.svd((b * weights[:, None]).T @ a)
    sign = np.ones(3)
    sign[2] = np.sign(np.linalg.det(u) * np.linalg.det(vt)) or 1.0
    rotation = (u * sign) @ vt
    scale = float((s * sign).sum() / max(float(weights @ (a**2).sum(1)), 1e-12))
    return np.asarray(np.c_[scale * rotation, goal - scale * rotation @ centre])


def face_size(points: F32) -> float:
    """Return the side of the square with the area of the face's hull, in pixels."""
    hull = cv2.convexHull(np.ascontiguousarray(points[:, :2], np.float32))
    return float(np.sqrt(max(float(cv2.contourArea(hull)), 1.0)))


def place(surrogate: F32, target: F32) -> F32:
    """Turn the surrogate's mesh into the target's pose, size and position.

    The thesis uses Procrustes on the inner eye corners and the nose tip. Three points leave the
    size to one short distance, so here they carry half of the weight and the rigid points of
    forehead, nose and temples the other half, in three dimensions, which gives the pose too.
    The surrogate keeps its own shape and expression; only where its outline would stand further
    than `MOST_SHIFT` from the original's is the whole shape drawn back in proportion, since no
    background can be bent that far unseen.
    """
    index = np.r_[ANCHORS, RIGID]
    weights = np.r_[
        np.full(len(ANCHORS), 0.5 / len(ANCHORS)), np.full(len(RIGID), 0.5 / len(RIGID))
    ]
    source, goal = surrogate.astype(np.float64), target.astype(np.float64)
    matrix = similarity(source[index], goal[index], weights)
    placed = source @ matrix[:, :3].T + matrix[:, 3]
    shift = float(np.linalg.norm((placed - goal)[:, :2], axis=1).max())
    most = MOST_SHIFT * face_size(target)
    if shift > most:
        placed = goal + (placed - goal) * (most / shift)
    return placed.astype(np.float32)
