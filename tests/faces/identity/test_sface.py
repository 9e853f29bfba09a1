"""SFace as OpenCV aligns and runs it."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from everyface.faces.align import crop_points
from everyface.faces.faceset import FaceSet
from everyface.faces.identity import embedded
from everyface.faces.identity.base import aligned, cosine
from everyface.faces.identity.sface import SIDE, TEMPLATE, SFace
from everyface.faces.mesh import FIVE
from everyface.models import store


def test_opencv_gives_the_same_vectors(faces: FaceSet) -> None:
    theirs = cv2.FaceRecognizerSF.create(str(store.fetch(SFace.model)), "")
    points = crop_points(faces)
    for row in (0, 9, 20):
        marks = points[row, FIVE, :2]
        face = np.concatenate([[0, 0, 1, 1], marks.ravel(), [1]]).astype(np.float32)
        crop = faces.crops[row]
        chip = theirs.alignCrop(np.ascontiguousarray(crop[..., ::-1]), face[None])
        ours = aligned(crop, marks, TEMPLATE, SIDE)
        # OpenCV shrinks without a filter; small differences are its aliasing.
        assert np.abs(chip[..., ::-1].astype(float) - ours).mean() < 6
        feature = theirs.feature(np.ascontiguousarray(ours[..., ::-1]))
        assert cosine(feature, embedded(faces, "sface")[row : row + 1])[0, 0] > 0.9999


def test_the_threshold_is_opencvs() -> None:
    assert SFace.threshold == pytest.approx(0.363)
