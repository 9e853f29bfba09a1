"""SFace: the recogniser that is always at hand."""

from __future__ import annotations

import numpy as np

from everyface.arrays import F32, U8
from everyface.faces.identity.base import Recogniser, aligned, cosine
from everyface.faces.mesh import FIVE
from everyface.models.runtime import network
from everyface.progress import Tick

SIDE = 112

TEMPLATE = np.array(
    [
        [38.2946, 51.6963],
        [73.5318, 51.5014],
        [56.0252, 71.7366],
        [41.5493, 92.3655],
        [70.7299, 92.2041],
    ]
)
"""Where ArcFace (Deng et al. 2019) and SFace want the eyes, nose tip and mouth corners."""


class SFace(Recogniser):
    """SFace (Zhong et al. 2021) on MobileFaceNet, compared by cosine.

    The threshold is OpenCV Zoo's, taken on LFW.
    """

    name = "sface"
    model = "sface"
    threshold = 0.363

    def _embed(self, crops: U8, points: F32, tick: Tick) -> F32:
        faces = np.empty((len(crops), SIDE, SIDE, 3), np.uint8)
        for face, image, mesh in zip(faces, crops, points, strict=True):
            face[:] = aligned(image, mesh[FIVE], TEMPLATE, SIDE)
        batch = faces.transpose(0, 3, 1, 2)
        return network(self.model).run(batch, tick)["fc1"]

    def similarity(self, a: F32, b: F32) -> F32:
        """Return the cosines."""
        return cosine(a, b)
