"""A recogniser that reads a face's identity from the first pixels of its crop."""

from __future__ import annotations

import numpy as np

from everyface.arrays import F32, U8
from everyface.attacks.naive import Gallery

SIZE = 8


class PixelRecogniser:
    name = "pixel"
    threshold = 0.8

    def embed(self, crops: U8, points: F32, tick: object = None) -> F32:
        codes = crops[:, 0, :, 0].astype(np.float32) - 128
        return codes / np.maximum(np.linalg.norm(codes, axis=1, keepdims=True), 1e-6)

    def similarity(self, a: F32, b: F32) -> F32:
        return a @ b.T


def crops_of(codes: F32) -> U8:
    crops = np.full((len(codes), SIZE, SIZE, 3), 128, np.uint8)
    crops[:, 0, :, 0] = np.clip(codes + 128, 0, 255)
    return crops


def people(n: int, photos: int = 2, seed: int = 0, noise: float = 4.0) -> tuple[F32, Gallery]:
    """n people with clearly different codes, `photos` photos each."""
    rng = np.random.default_rng(seed)
    ids = rng.normal(0, 40, (n, SIZE))
    codes = np.repeat(ids, photos, axis=0) + rng.normal(0, noise, (n * photos, SIZE))
    codes = codes.astype(np.float32)
    recogniser = PixelRecogniser()
    who = np.repeat(np.arange(n), photos).astype(np.int32)
    gallery = Gallery(
        recogniser,  # type: ignore[arg-type]
        recogniser.embed(crops_of(codes), np.zeros(0)),
        who,
        np.arange(n * photos, dtype=np.int32),
    )
    return codes, gallery
