"""dlib's ResNet, the recogniser that AnonFACES attacks with."""

from __future__ import annotations

import functools

import numpy as np

from everyface.arrays import F32, U8
from everyface.faces.identity.base import Recogniser, aligned, minus_distance
from everyface.models import dlib_graph, store
from everyface.models.dlib_graph import SIDE
from everyface.models.runtime import Network
from everyface.progress import Tick

LANDMARKS = np.array([263, 362, 33, 133, 2])
"""Mesh points of dlib's five: outer and inner corner of each eye, and the base of the nose."""

_FRAME = np.array(
    [
        [0.8595674595992, 0.2134981538014],
        [0.6460604764104, 0.2289674387677],
        [0.1205750620789, 0.2137274526848],
        [0.3340850613712, 0.2290642403242],
        [0.4901123135679, 0.6277975316475],
    ]
)
_PADDING = 0.25

TEMPLATE = (_FRAME + _PADDING) / (1 + 2 * _PADDING) * (SIDE - 1)
"""Where `dlib.get_face_chip` puts the five in a chip of 150 px with a padding of a quarter: dlib
lays the square's corners on the middles of the chip's outermost pixels."""


class DlibResNet(Recogniser):
    """dlib's face recognition ResNet (King 2017), compared by Euclidean distance.

    dlib calls two faces one person below a distance of 0.6; similarity is minus the distance.
    The network runs in OpenVINO, so dlib itself is not needed.
    """

    name = "dlib"
    model = "dlib_resnet"
    threshold = -0.6

    def _embed(self, crops: U8, points: F32, tick: Tick) -> F32:
        chips = np.empty((len(crops), SIDE, SIDE, 3), np.uint8)
        for chip, image, mesh in zip(chips, crops, points, strict=True):
            chip[:] = aligned(image, mesh[LANDMARKS], TEMPLATE, SIDE)
        return _loaded().run(chips, tick)["output"]

    def similarity(self, a: F32, b: F32) -> F32:
        """Return minus the distances."""
        return minus_distance(a, b)


@functools.cache
def _loaded() -> Network:
    return Network(dlib_graph.read(store.fetch(DlibResNet.model)))
