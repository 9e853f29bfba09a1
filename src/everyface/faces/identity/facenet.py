"""FaceNet, a second opinion from another training set; needs the package h5py."""

from __future__ import annotations

import functools

import numpy as np

from everyface.arrays import F32, U8
from everyface.faces.identity.base import Recogniser, aligned, cosine
from everyface.faces.identity.sface import TEMPLATE as ARCFACE
from everyface.faces.mesh import FIVE
from everyface.models import keras, store
from everyface.models.runtime import Network
from everyface.progress import Tick

SIDE = 160

TEMPLATE = (ARCFACE - 55.5) * 1.25 + 79.5


class FaceNet(Recogniser):
    """FaceNet (Schroff et al. 2015) on Inception-ResNet-v1."""

    name = "facenet"
    model = "facenet"
    threshold = 0.5

    def _embed(self, crops: U8, points: F32, tick: Tick) -> F32:
        faces = np.empty((len(crops), SIDE, SIDE, 3), np.float32)
        for face, image, mesh in zip(faces, crops, points, strict=True):
            face[:] = _whitened(aligned(image, mesh[FIVE], TEMPLATE, SIDE))
        return _loaded().run(faces, tick)["output"]

    def similarity(self, a: F32, b: F32) -> F32:
        """Return the cosines."""
        return cosine(a, b)


def _whitened(face: U8) -> F32:
    """Bring a picture to mean 0 and deviation 1, as FaceNet was trained."""
    wide = face.astype(np.float32)
    deviation = max(float(wide.std()), 1 / np.sqrt(wide.size))
    return np.asarray((wide - wide.mean()) / deviation, dtype=np.float32)


@functools.cache
def _loaded() -> Network:
    return Network(keras.read(store.fetch(FaceNet.model)))
