"""The sharpness that a mean loses, given back.

Adding k faces keeps what they share and thins what they do not: skin texture, lashes and hairs
of k people cancel by about √k, and the mean looks like wax. The mean still holds a blend of
those details, only too faint. Band by band its local strength is therefore raised to what single
faces of the same set have on average there. The average is over all faces of the set: nothing of
anybody's own detail enters but through the code itself.
"""

from __future__ import annotations

import cv2
import numpy as np

from everyface.arrays import F32, Bool
from everyface.spaces.appearance.fill import COARSE, luma

BANDS = 3
"""How many octaves of detail are evened out, the finest first."""

MOST = (2.6, 2.4, 1.7)
"""The most by which each band may be raised."""


def strength(texture: F32, inside: Bool) -> F32:
    """Return how strong each band is in each neighbourhood, (BANDS, h / 4, w / 4)."""
    return np.stack([_strength(band, inside) for band in _bands(luma(texture))])


def evened(texture: F32, usual: F32, inside: Bool) -> F32:
    """Return `texture` with its fine bands as strong as `usual`, never weaker than they were."""
    height, width = texture.shape[:2]
    added = np.zeros((height, width), np.float32)
    for band, target, most in zip(_bands(luma(texture)), usual, MOST, strict=True):
        gain = np.clip(target / np.maximum(_strength(band, inside), 0.15), 1, most)
        gain = cv2.GaussianBlur(gain.astype(np.float32), (0, 0), 2)
        fine = cv2.resize(gain, (width, height), interpolation=cv2.INTER_LINEAR)
        added += (fine - 1) * band
    return np.asarray(texture + (added * inside)[..., None], np.float32)


def _bands(luma: F32) -> list[F32]:
    """Split off the finest octaves: differences of Gaussians at full size."""
    bands, sharp = [], luma
    for octave in range(BANDS):
        soft = cv2.GaussianBlur(luma, (0, 0), 0.8 * 2**octave)
        bands.append(sharp - soft)
        sharp = soft
    return bands


def _strength(band: F32, inside: Bool) -> F32:
    """Local root mean square of a band over the face, at a quarter of the size."""
    size = (band.shape[1] // COARSE, band.shape[0] // COARSE)
    cover = cv2.resize(inside.astype(np.float32), size, interpolation=cv2.INTER_AREA)
    power = cv2.resize(band * band * inside, size, interpolation=cv2.INTER_AREA)
    cover, power = (cv2.GaussianBlur(image, (0, 0), 2.5) for image in (cover, power))
    return np.asarray(np.sqrt(power / np.maximum(cover, 1e-3)), np.float32)
