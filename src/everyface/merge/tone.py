"""Colour and light: the new face takes the old one's light without its features."""

from __future__ import annotations

import cv2
import numpy as np

from everyface.arrays import F32, F64, U8, Bool
from everyface.merge.membrane import FREE, KNOWN, OUTSIDE, solve

SOFT = 20.0
"""Added before the logarithm, so that a gain does not tear noise out of the darks."""

DECAY = 0.004
"""How fast the seam's correction fades inwards, per cell of the small frame."""


def to_log(image: U8 | F32) -> F32:
    """Return log(value + `SOFT`): light and skin tone are factors, here sums."""
    return np.log(image.astype(np.float32) + np.float32(SOFT))


def from_log(image: F32) -> F32:
    """Undo `to_log`, still float32."""
    return cv2.exp(image) - np.float32(SOFT)


def _terms(shape: tuple[int, int]) -> F64:
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float64)
    y, x = (
        y / max(shape) - 0.5 * shape[0] / max(shape),
        x / max(shape) - 0.5 * shape[1] / max(shape),
    )
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], -1)


def smooth_fit(values: F32, weights: F32, ridge: float = 0.002) -> F32:
    """Fit a quadratic in x and y to each channel, robustly, and draw it everywhere.

    Six numbers a channel can hold where the light comes from and how strong it is, and nothing
    of who it falls on.
    """
    terms = _terms(weights.shape)
    chosen = weights > 0
    a, b, w = terms[chosen], values[chosen].astype(np.float64), weights[chosen].astype(np.float64)
    penalty = ridge * len(a) * np.diag([0.0, 1, 1, 4, 4, 4])
    now = w
    for _ in range(4):
        fit = np.linalg.solve(
            (a * now[:, None]).T @ a + penalty + 1e-9 * np.eye(6), (a * now[:, None]).T @ b
        )
        error = np.abs(b - a @ fit).mean(1)
        scale = 1.5 * float(np.median(error)) + 1e-4
        now = w / (1 + (error / scale) ** 2)
    return (terms @ fit).astype(np.float32)


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
    difference = target - source
    if float(skin.sum()) >= 40:
        base = smooth_fit(difference, skin)
    else:
        base = np.zeros_like(difference)
    rest = difference - base
    spread = max(face.shape) / 60
    weight = cv2.GaussianBlur(rim, (0, 0), spread)
    mean = (
        cv2.GaussianBlur(rest * rim[..., None], (0, 0), spread)
        / np.maximum(weight, 1e-6)[..., None]
    )
    mean = np.clip(mean, -0.5, 0.5)
    kind = np.where(rim > 0.5, KNOWN, np.where(face, FREE, OUTSIDE)).astype(np.uint8)
    result: F32 = base + solve(mean, kind, DECAY)
    return result
