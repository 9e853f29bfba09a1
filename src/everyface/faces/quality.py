"""How much a face is worth as a likeness: 0 useless, 1 sharp, large, frontal and well lit."""

from __future__ import annotations

import cv2
import numpy as np

from everyface.arrays import F32, U8, AnyArray
from everyface.faces.mesh import IRISES, OVAL

_SIDE = 160


def quality(crops: U8, crop_points: F32, points: F32, pose: F32, sure: AnyArray) -> F32:
    """Return one number a face: the geometric mean of five, so that none makes up for another.

    Parameters
    ----------
    crops, crop_points
        The aligned faces and their meshes in crop pixels.
    points
        The meshes in photo pixels, which tell how large the face really is.
    pose
        Yaw, pitch, roll in degrees.
    sure
        How sure the networks are that it is a face, 0 to 1.
    """
    size = np.linalg.norm(points[:, IRISES[1], :2] - points[:, IRISES[0], :2], axis=1)
    yaw, pitch = np.radians(pose[:, 0]), np.radians(pose[:, 1])
    parts = [
        np.clip(size / 60, 0, 1),
        np.clip(np.cos(yaw) * np.cos(pitch), 0, 1) ** 2,
        np.clip(sure, 0, 1),
        *_light(crops, crop_points),
    ]
    mean: F32 = np.prod(np.stack(parts), axis=0) ** (1 / len(parts))
    return mean.astype(np.float32)


def _light(crops: U8, points: F32) -> tuple[F32, F32]:
    """Sharpness and exposure inside each face's oval.

    Sharpness is the share of the picture's contrast that lies in its finest detail (the
    standard deviation of the Laplacian over that of the brightness), exposure the share of
    pixels that are neither drowned nor burnt.
    """
    sharp = np.empty(len(crops), np.float32)
    exposed = np.empty(len(crops), np.float32)
    for row, (image, mesh) in enumerate(zip(crops, points, strict=True)):
        small = cv2.resize(image, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
        grey = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY)
        mask = np.zeros(grey.shape, np.uint8)
        oval = (mesh[OVAL, :2] * (_SIDE / image.shape[0])).round().astype(np.int32)
        cv2.fillConvexPoly(mask, oval, 255)
        inside = mask > 0 if mask.any() else mask == 0
        detail = cv2.Laplacian(grey, cv2.CV_32F)[inside].std() / (grey[inside].std() + 1)
        sharp[row] = np.clip(detail / _SHARP, 0, 1)
        exposed[row] = ((grey[inside] > 16) & (grey[inside] < 245)).mean()
    return sharp, exposed


_SHARP = 0.35
"""The detail of a face in focus at this size."""
