"""dlib's network as dlib itself cuts the chip and runs it."""

from __future__ import annotations

import dlib
import numpy as np
import pytest

from everyface.faces.align import crop_points
from everyface.faces.faceset import FaceSet
from everyface.faces.identity import dlib_resnet, embedded
from everyface.faces.identity.base import aligned
from everyface.faces.identity.dlib_resnet import LANDMARKS, TEMPLATE, DlibResNet
from everyface.models import store
from everyface.models.dlib_graph import SIDE


@pytest.fixture(scope="module")
def theirs() -> dlib.face_recognition_model_v1:
    return dlib.face_recognition_model_v1(str(store.fetch(DlibResNet.model)))


@pytest.mark.parametrize("row", [0, 11])
def test_dlib_gives_the_same_vector(
    faces: FaceSet, theirs: dlib.face_recognition_model_v1, row: int
) -> None:
    marks = crop_points(faces)[row, LANDMARKS, :2]
    chip = aligned(faces.crops[row], marks, TEMPLATE, SIDE)
    wanted = np.array(theirs.compute_face_descriptor(chip))
    assert np.abs(embedded(faces, "dlib")[row] - wanted).max() < 1e-4


def test_dlib_cuts_the_same_chips(faces: FaceSet) -> None:
    """Half a pixel away, the distance of the vectors would be 0.08."""
    marks = crop_points(faces)[:, LANDMARKS, :2].round()
    whole = dlib.rectangle(0, 0, faces.size, faces.size)
    apart = []
    for row in range(0, len(faces), 3):
        points = [dlib.point(*xy) for xy in marks[row].astype(int).tolist()]
        shape = dlib.full_object_detection(whole, points)
        theirs = dlib.get_face_chip(faces.crops[row], shape, size=SIDE, padding=0.25)
        ours = aligned(faces.crops[row], marks[row], TEMPLATE, SIDE)
        found = dlib_resnet._loaded().run(np.stack([ours, theirs]))["output"]
        apart.append(np.linalg.norm(found[0] - found[1]))
    assert np.mean(apart) < 0.055
