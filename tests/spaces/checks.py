"""Drawn faces read again, and how sharp a picture is."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from everyface.faces.align import crop, face_transform
from everyface.faces.faceset import Crops, FaceSet
from everyface.spaces import Drawn

LUMA = np.array([0.299, 0.587, 0.114], np.float32)


def read_again(faces: FaceSet, drawn: Drawn) -> FaceSet:
    """The drawn faces as a set that is read from photos of them; `faces` lends the columns."""
    crops = [
        crop(image, matrix)
        for image, matrix in zip(drawn.images, face_transform(drawn.points), strict=True)
    ]
    rows = faces.take(np.zeros(len(crops), int))
    return replace(rows, points=drawn.points, crops=Crops(np.stack(crops)), vectors={})


def nearest(codes: np.ndarray) -> float:
    """The least distance of two codes."""
    away = np.linalg.norm(codes[:, None] - codes[None], axis=2)
    return float(away[~np.eye(len(codes), dtype=bool)].min())


def sharpness(drawn: Drawn) -> np.ndarray:
    """The mean squared gradient of each face's brightness, a little inside its mask."""
    found = []
    for image, mask in zip(drawn.images, drawn.masks, strict=True):
        down, across = np.gradient(image @ LUMA)
        inside = cv2.erode((mask == 255).astype(np.uint8), np.ones((15, 15))) > 0
        found.append((down**2 + across**2)[inside].mean())
    return np.array(found)
