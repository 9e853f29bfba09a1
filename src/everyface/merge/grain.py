"""Sharpness and grain: a face must be as soft and as noisy as the photo it stands in."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np

from everyface.arrays import F32, U8, Bool, as_f32

TILE = 512
SEED = 20160530
"""Fixed: the grain is the same in every run and tells nothing."""


def luma(image: U8 | F32) -> F32:
    """Return brightness as float32."""
    return as_f32(image) @ np.array([0.299, 0.587, 0.114], np.float32)


def band(image: F32, fine: float, coarse: float) -> F32:
    """Return the detail between two Gaussian scales; `fine` 0 keeps the finest."""
    top = cv2.GaussianBlur(image, (0, 0), fine) if fine > 0 else image
    return as_f32(top - cv2.GaussianBlur(image, (0, 0), coarse))


def spread(values: F32) -> float:
    """Return a standard deviation that edges and features do not move."""
    return float(np.median(np.abs(values)) * 1.4826) if values.size else 0.0


@lru_cache(maxsize=8)
def _tile(fine: float, coarse: float) -> F32:
    noise = np.random.default_rng(SEED).standard_normal((TILE, TILE)).astype(np.float32)
    big = np.tile(noise, (3, 3))
    result = band(big, fine, coarse)[TILE : 2 * TILE, TILE : 2 * TILE]
    return result / spread(result)


def _field(shape: tuple[int, int], fine: float, coarse: float) -> F32:
    tile = _tile(fine, coarse)
    return np.tile(tile, (-(-shape[0] // TILE), -(-shape[1] // TILE)))[: shape[0], : shape[1]]


def match(face: F32, like: U8, skin: Bool) -> F32:
    """Give `face` the sharpness and the grain of `like`.

    Parameters
    ----------
    face
        (h, w, 3) drawn face, values 0 to 255.
    like
        (h, w, 3) the photo at the same place.
    skin
        Where both show bare skin.
    """
    if int(skin.sum()) < 200:
        return face
    ours, theirs = luma(face), luma(like)
    for sigma in (0.0, 0.5, 0.7, 0.9, 1.2, 1.6, 2.2):
        trial = cv2.GaussianBlur(ours, (0, 0), sigma) if sigma else ours
        if spread(band(trial, 0, 2.0)[skin]) <= 1.15 * spread(band(theirs, 0, 2.0)[skin]):
            break
    out = cv2.GaussianBlur(face, (0, 0), sigma) if sigma else face
    ours = luma(out)
    shape = (face.shape[0], face.shape[1])
    add = np.zeros(shape, np.float32)
    for fine, coarse, share in ((0.8, 1.8, 0.45), (0.0, 0.8, 0.85)):
        want = spread(band(theirs, fine, coarse)[skin]) ** 2
        have = spread(band(ours + add, fine, coarse)[skin]) ** 2
        if want > have:
            add += share * np.sqrt(want - have) * _field(shape, fine, coarse)
    return out + add[..., None]
