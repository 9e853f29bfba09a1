"""Age, gender, skin and expression of faces, as labels for `select` recipes and for choosing pools.

They are guesses of small networks and of a colour sample, good enough to mix like with like,
not good enough to say anything about one person.
"""

from __future__ import annotations

import cv2
import numpy as np

from everyface.arrays import F32, U8, AnyArray
from everyface.faces.align import crop, procrustes
from everyface.faces.landmarks import expressions
from everyface.faces.mesh import CHEEKS, indices
from everyface.models.runtime import network

_CHIP_POINTS = indices("263 362 33 133 2")
_CHIP = np.array(
    [
        [0.8595674595992, 0.2134981538014],
        [0.6460604764104, 0.2289674387677],
        [0.1205750620789, 0.2137274526848],
        [0.3340850613712, 0.2290642403242],
        [0.4901123135679, 0.6277975316475],
    ]
)
"""dlib's five-point template (`get_face_chip_details`): eye corners and the base of the nose."""

_PADDING = 0.2
_MEANS = np.array([122.781998, 117.000999, 104.297997], dtype=np.float32)
_AGES = np.arange(81, dtype=np.float32)
_AGES[0] = 0.25

GENDERS = ("female", "male")


def labels(crops: U8, points: F32) -> dict[str, AnyArray]:
    """Return every computed label of (n, h, w, 3) crops with meshes (n, 478, 3) in their pixels.

    ``age`` in years; ``gender``, and ``gender_probability`` of it; ``skin``, the individual
    typology angle in degrees (55 very light, −30 dark); ``skin_light``, CIELAB's L*;
    ``expression``, (n, 52) as `everyface.faces.landmarks.EXPRESSIONS` names them.
    """
    years = ages(crops, points)
    male = males(crops, points)
    light, angle = skin(crops, points)
    return {
        "age": years,
        "gender": np.array(GENDERS)[(male > 0.5).astype(int)],
        "gender_probability": np.maximum(male, 1 - male),
        "skin": angle,
        "skin_light": light,
        "expression": expressions(points),
    }


def ages(crops: U8, points: F32) -> F32:
    """Return ages in years: the expectation over the network's 81 classes."""
    # A product of matrices would round by the batch.
    return np.asarray((_classes("age", crops, points, 64) * _AGES).sum(axis=1))


def males(crops: U8, points: F32) -> F32:
    """Return the probability, as the network sees it, that a face is a man's."""
    return np.asarray(_classes("gender", crops, points, 32)[:, 1])


def skin(crops: U8, points: F32) -> tuple[F32, F32]:
    """Return the cheeks' lightness (CIELAB's L*) and individual typology angle in degrees.

    The angle is arctan((L* − 50) / b*) (Chardon et al. 1991), of the medians over eight discs on
    both cheeks, so that a beard, a highlight or a strand of hair on one of them does not count.
    """
    light = np.empty(len(crops), np.float32)
    angle = np.empty(len(crops), np.float32)
    for row, (image, mesh) in enumerate(zip(crops, points, strict=True)):
        mask = np.zeros(image.shape[:2], np.uint8)
        radius = max(1, round(image.shape[0] / 64))
        for x, y in mesh[CHEEKS, :2].round().astype(int).tolist():
            cv2.circle(mask, (x, y), radius, 255, -1)
        seen = image[mask > 0]
        if not len(seen):
            seen = image.reshape(-1, 3)
        lab = cv2.cvtColor(seen[None].astype(np.float32) / 255, cv2.COLOR_RGB2LAB)[0]
        lightness, _, yellow = np.median(lab, axis=0)
        light[row] = lightness
        angle[row] = np.degrees(np.arctan2(lightness - 50, max(float(yellow), 1e-3)))
    return light, angle


def _classes(name: str, crops: U8, points: F32, side: int) -> F32:
    """Cut the chips that the network was trained on and return its class probabilities.

    dlib lays the square's corners on the middles of the chip's outermost pixels.
    """
    template = (_CHIP + _PADDING) / (1 + 2 * _PADDING) * (side - 1)
    chips = np.empty((len(crops), side, side, 3), np.uint8)
    for chip, image, mesh in zip(chips, crops, points, strict=True):
        chip[:] = crop(image, procrustes(mesh[_CHIP_POINTS], template), side)
    batch = ((chips.astype(np.float32) - _MEANS) / 256).transpose(0, 3, 1, 2)
    (found,) = network(name).run(batch).values()
    return found
