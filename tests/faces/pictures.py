"""Pictures with faces at known places."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

GROUND = 120


def scene(height: int, width: int) -> np.ndarray:
    """A plain grey picture."""
    return np.full((height, width, 3), GROUND, np.uint8)


def pasted(canvas: np.ndarray, portrait: np.ndarray, x: int, y: int, side: int) -> np.ndarray:
    """The canvas with a portrait of that side at (x, y); the canvas itself is changed."""
    canvas[y : y + side, x : x + side] = cv2.resize(
        portrait, (side, side), interpolation=cv2.INTER_AREA
    )
    return canvas


def collage(portraits: Sequence[np.ndarray], columns: int, side: int, gap: int) -> np.ndarray:
    """Portraits in rows, with plain ground between them."""
    step = side + gap
    rows = -(-len(portraits) // columns)
    canvas = scene(rows * step + gap, columns * step + gap)
    for number, portrait in enumerate(portraits):
        row, column = divmod(number, columns)
        pasted(canvas, portrait, gap + column * step, gap + row * step, side)
    return canvas


def turned(picture: np.ndarray, degrees: float, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """The picture turned clockwise about its middle, and the matrix that turns points so."""
    height, width = picture.shape[:2]
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), -degrees, scale)
    return cv2.warpAffine(
        picture, matrix, (width, height), borderMode=cv2.BORDER_CONSTANT, borderValue=(GROUND,) * 3
    ), matrix
