"""The template's mesh and hull on a square picture, for what is drawn onto them."""

import cv2
import numpy as np

from everyface.faces.mesh import OVAL
from everyface.spaces.template import template


def mesh_of(side: int) -> np.ndarray:
    return (template() * np.float32(side / 512)).astype(np.float32)


def hull_of(mesh: np.ndarray, side: int) -> np.ndarray:
    mask = np.zeros((side, side), np.uint8)
    cv2.fillPoly(mask, [np.round(mesh[OVAL, :2]).astype(np.int32)], 1)
    return mask > 0
