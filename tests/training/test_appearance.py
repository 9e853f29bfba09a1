"""The command that makes the shipped appearance model, on few people."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import cv2
import numpy as np
import pytest

from everyface.faces import FaceSet
from everyface.faces.align import crop_points
from everyface.faces.faceset import Crops
from everyface.spaces.appearance.frame import TextureFrame
from everyface.spaces.appearance.generic import Model
from everyface.training import appearance


@pytest.fixture(scope="module")
def people(faces: FaceSet) -> FaceSet:
    """Eleven people, one of them with thick black glasses drawn on."""
    some = faces.take(np.arange(0, 22, 2))
    crops = some.crops[:].copy()
    for eye in crop_points(some)[3, [468, 473], :2]:
        cv2.circle(crops[3], tuple(eye.round().astype(int).tolist()), 40, (10, 10, 10), 9)
    return replace(some, crops=Crops(crops))


@pytest.fixture(scope="module")
def model(people: FaceSet) -> Model:
    return appearance.train(people, "eleven drawn people")


def test_it_is_a_model_that_can_be_shipped(model: Model) -> None:
    file = BytesIO()
    model.save(file)
    file.seek(0)
    back = Model.load(file)
    assert back.provenance.startswith("eleven drawn people; ")
    assert back.shape.basis.shape[1] == 1434
    assert back.texture.basis.shape[1] == TextureFrame(back.reference).packing.length
    assert np.isfinite(back.error).all() and np.isfinite(back.energy).all()


def test_those_with_most_hidden_are_left_out(people: FaceSet, model: Model) -> None:
    seen = appearance._read(people)
    used = int(appearance.KEPT * len(seen.textures))
    assert f"; {used} faces seen from the front were used" in model.provenance
    assert len(model.texture.basis) == used - 1 and len(model.shape.basis) == len(seen.textures) - 1


def test_turned_heads_are_not_learnt_from(people: FaceSet) -> None:
    turned = people.points.copy()
    turned[:4, :, 0] = turned[:4, :, 0].mean(axis=1, keepdims=True) + 0.4 * (
        turned[:4, :, 0] - turned[:4, :, 0].mean(axis=1, keepdims=True)
    )
    turned[:4, :, 2] *= 3
    before = appearance._read(people).textures
    assert len(appearance._read(replace(people, points=turned)).textures) < len(before)
