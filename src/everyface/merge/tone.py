"""Colour and light: the new face takes the old one's light without its features."""

from __future__ import annotations

import cv2
import numpy as np

from everyface.arrays import F32, U8, Bool, as_f32
from everyface.merge.membrane import FREE, KNOWN, OUTSIDE, solve

SOFT = 20.0
"""Added before the logarithm, so that a gain does not tear noise out of the darks."""

WITNESSES = 6000
"""Fits go by about so many pixels: six numbers need no more."""

STEP = 0.2
"""The largest difference, in logarithms, that the light's fit may leave at the rim of bare skin;
what differs more is no skin."""

COARSE = 64.0
"""Size of a face in the frame in which the correction, which is smooth, is solved."""

DECAY = 0.017
"""How fast the seam's correction fades inwards: to 1/e over an eighth of the face."""


def to_log(image: U8 | F32) -> F32:
    """Return log(value + `SOFT`): light and skin tone are factors, here sums."""
    return as_f32(np.log(image.astype(np.float32) + np.float32(SOFT)))


def from_log(image: F32) -> F32:
    """Undo `to_log`, still float32."""
    return as_f32(cv2.exp(image) - np.float32(SOFT))


def _terms(weights: F32, degree: int) -> F32:
    """Return the monomials in x and y, centred on the weights, in units of twice their spread."""
    y, x = np.mgrid[: weights.shape[0], : weights.shape[1]].astype(np.float64)
    share = weights / weights.sum()
    x, y = x - (share * x).sum(), y - (share * y).sum()
    unit = 2 * np.sqrt((share * (x * x + y * y)).sum() / 2) + 1e-6
    x, y = x / unit, y / unit
    powers = [np.ones_like(x), x, y, x * x, x * y, y * y][: 3 * degree]
    return np.stack([power.astype(np.float32) for power in powers], -1)


def smooth_fit(values: F32, weights: F32, ridge: float = 0.002, degree: int = 2) -> F32:
    """Fit a polynomial in x and y, `degree` 1 or 2, to each channel, robustly; draw it all over.

    A few numbers a channel can hold where the light comes from and how strong it is, and nothing
    of who it falls on.
    """
    terms = _terms(weights, degree)
    chosen = np.flatnonzero(weights > 0)
    chosen = chosen[:: 1 + len(chosen) // WITNESSES]
    a, b = (part.reshape(-1, part.shape[-1])[chosen].astype(np.float64) for part in (terms, values))
    w = weights.ravel()[chosen].astype(np.float64)
    penalty = ridge * len(a) * np.diag([0.0, 1, 1, 4, 4, 4][: 3 * degree])
    now = w
    for _ in range(4):
        weighed = (a * now[:, None]).T
        fit = np.linalg.solve(weighed @ a + penalty + 1e-9 * np.eye(3 * degree), weighed @ b)
        error = np.abs(b - a @ fit).mean(1)
        scale = 1.5 * float(np.median(error)) + 1e-4
        now = w / (1 + (error / scale) ** 2)
    return as_f32(terms @ fit.astype(np.float32))


def correction(target: F32, source: F32, face: Bool, skin: F32, rim: F32) -> F32:
    """Return what to add to `source` (log) so that it stands in the light of `target` (log).

    Parameters
    ----------
    target, source
        (h, w, 3) logarithms of the photo and of the drawn surrogate, in the small frame.
    face
        Where the surrogate will be seen.
    skin
        0 to 1, where both show bare skin: the light is fitted there.
    rim
        0 to 1, the band just inside the edge that shows bare skin in both: no step may remain.
    """
    shape = face.shape
    scale = min(1.0, COARSE / float(np.sqrt(face.sum() + 1)))
    size = (max(4, round(shape[1] * scale)), max(4, round(shape[0] * scale)))

    def coarse(values: F32) -> F32:
        return as_f32(cv2.resize(values, size, interpolation=cv2.INTER_AREA))

    inside, skin, rim = coarse(face.astype(np.float32)), coarse(skin), coarse(rim)
    difference = coarse(target - source)
    enough = float(skin.sum()) >= 12
    base = smooth_fit(difference, skin) if enough else _mean(difference, inside)
    rest = difference - base
    rim = rim / (1 + (np.abs(rest).max(-1) / STEP) ** 4)
    weight = cv2.GaussianBlur(rim, (0, 0), 2.0)[..., None]
    known = cv2.GaussianBlur(rest * rim[..., None], (0, 0), 2.0) / np.maximum(weight, 1e-6)
    kind = np.where(rim > 0.4, KNOWN, np.where(inside > 0.3, FREE, OUTSIDE)).astype(np.uint8)
    result = base + spread(solve(np.clip(known, -STEP, STEP), kind, DECAY), kind)
    return as_f32(cv2.resize(result, shape[::-1], interpolation=cv2.INTER_LINEAR))


def _mean(values: F32, weights: F32) -> F32:
    total = max(float(weights.sum()), 1e-6)
    mean = (values * weights[..., None]).sum((0, 1)) / total
    return as_f32(np.broadcast_to(mean, values.shape))


def spread(field: F32, kind: U8) -> F32:
    """Carry the values at the face's edge a little outwards, so that enlarging meets no step."""
    held = (kind != OUTSIDE).astype(np.float32)
    weight = cv2.GaussianBlur(held, (0, 0), 1.5)[..., None]
    around = cv2.GaussianBlur(field * held[..., None], (0, 0), 1.5) / np.maximum(weight, 1e-3)
    return as_f32(np.where(held[..., None] > 0, field, around))
