"""Glasses that go with the old face: what of them lies outside it must not end in mid-air."""

from __future__ import annotations

import cv2
import numpy as np

from everyface.arrays import F32, U8, Bool, as_f32
from everyface.faces.mesh import LEFT_EYE, RIGHT_EYE
from everyface.merge.frame import Small
from everyface.merge.grain import luma
from everyface.merge.tone import SOFT

BRIDGE = (9, 5)
"""From between the brows to the ridge of the nose: skin is smooth there, a bridge is not."""

WORN = 0.29
"""The dip in log brightness across the bridge of the nose from which glasses are assumed."""

CONTRAST = 0.10
"""The contrast in log brightness from which a thin line beside the eyes is taken for an arm."""

SLIM = (0.2, 0.022)
"""The most that an arm is high, in face sizes, and covers, in their squares; hair is more."""


def worn(image: U8, points: F32, size: float) -> bool:
    """Tell whether something crosses the bridge of the nose.

    The brightness along the ridge of the nose, less its trend, ranges further on people with
    glasses.
    """
    log = as_f32(np.log(luma(image) + SOFT))
    start, end = points[BRIDGE[0], :2], points[BRIDGE[1], :2]
    along = end - start
    across = np.array([-along[1], along[0]]) / (float(np.linalg.norm(along)) + 1e-6)
    steps = start + np.linspace(0, 1, 64)[:, None] * along
    lines = steps[:, None] + np.linspace(-0.025, 0.025, 7)[None, :, None] * size * across
    values = cv2.remap(
        log, lines.astype(np.float32), None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    profile = values.mean(1, keepdims=True)
    ripple = (profile - cv2.GaussianBlur(profile, (0, 0), 7))[6:-6]
    return bool(np.ptp(ripple) > WORN)


def _beside(points: F32, shape: tuple[int, int], size: float) -> Bool:
    """Return the band at the height of the eyes, outwards from their outer corners."""
    left, right = points[LEFT_EYE, :2].mean(0), points[RIGHT_EYE, :2].mean(0)
    unit = float(np.linalg.norm(right - left)) + 1e-6
    along = (right - left) / unit
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    centre = (left + right) / 2
    dx, dy = x - centre[0], y - centre[1]
    sideways = np.abs(dx * along[0] + dy * along[1])
    height = np.abs(dy * along[0] - dx * along[1])
    band = (sideways > 0.5 * unit) & (sideways < 0.5 * unit + 0.55 * size)
    return np.asarray(band & (height < 0.17 * size))


def arms(image: U8, points: F32, hull: Bool) -> F32:
    """Return where thin lines run outwards from the face at the height of the eyes, 0 to 1."""
    shape = image.shape[:2]
    size = float(np.sqrt(hull.sum())) + 1
    log = as_f32(np.log(luma(image) + SOFT))
    width = 2 * max(2, round(0.05 * size)) + 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (width, width))
    closed, opened = (
        cv2.morphologyEx(log, how, kernel) for how in (cv2.MORPH_CLOSE, cv2.MORPH_OPEN)
    )
    skin = float(np.median(log[hull]))
    dark = (closed - log > CONTRAST) & (closed > skin - 0.5)
    bright = (log - opened > CONTRAST) & (np.abs(opened - skin) < 0.4)
    band = _beside(points, shape, size)
    inner = cv2.distanceTransform(hull.astype(np.uint8), cv2.DIST_L2, 3)
    line = ((dark | bright) & band & (inner < 0.12 * size)).astype(np.uint8)
    _, label = cv2.connectedComponents(line)
    roots = np.unique(label[(line > 0) & (inner > 0) & (inner < 0.1 * size)])
    slim = [root for root in roots[roots > 0] if _slim((label == root) & ~hull, size)]
    kept = np.isin(label, slim).astype(np.uint8)
    grow = 2 * max(1, round(0.014 * size)) + 1
    kept = cv2.dilate(kept, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (grow, grow)))
    return as_f32(kept)


def _slim(part: Bool, size: float) -> bool:
    """Tell whether what lies outside the face is as thin as an arm."""
    high = np.flatnonzero(part.any(axis=1))
    return len(high) > 0 and bool(
        np.ptp(high) < SLIM[0] * size and part.sum() < SLIM[1] * size * size
    )


def removed(image: U8, points: F32, hull: Bool, small: Small) -> U8:
    """Return the photo's `near` part without the arms of glasses, if any are worn.

    What lay behind is painted in from beside it (Telea 2004); the lines are thin, so this is done
    in the small frame and only the lines themselves are taken from there.

    Parameters
    ----------
    image
        The `near` part, (h, w, 3).
    points
        Mesh of the old face in the small frame.
    hull
        Where the new face will lie in the small frame.
    small
        The small frame.
    """
    low = small.down(image)
    if not worn(low, points, float(np.sqrt(hull.sum()))):
        return image
    mask = arms(low, points, hull)
    if not mask.any():
        return image
    painted = cv2.inpaint(low, (mask > 0).astype(np.uint8), 3, cv2.INPAINT_TELEA)
    whole = Small(small.near, small.near, small.shape)
    soft = whole.up(cv2.GaussianBlur(mask, (0, 0), 1.0))[..., None]
    soft = np.clip(soft * 1.6, 0, 1)
    mixed = image + soft * (whole.up(painted.astype(np.float32)) - image)
    result: U8 = np.clip(np.rint(mixed), 0, 255).astype(np.uint8)
    return result
