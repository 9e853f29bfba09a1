"""The command that makes the shipped appearance model, on few people."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest

from everyface.faces import FaceSet
from everyface.spaces.appearance.fill import Fill
from everyface.spaces.appearance.frame import TextureFrame
from everyface.spaces.appearance.generic import Model
from everyface.spaces.components import Components
from everyface.training import appearance

Rounds = list[tuple[np.ndarray, dict[int, float]]]


@pytest.fixture(scope="module")
def people(faces: FaceSet) -> FaceSet:
    """Eleven people."""
    return faces.take(np.arange(0, 22, 2))


@pytest.fixture(scope="module")
def rounds() -> Rounds:
    """Of each round of `model`: from which faces it learnt, and how much each of them hides."""
    return []


@pytest.fixture(scope="module")
def model(people: FaceSet, rounds: Rounds) -> Model:
    usual, filled = appearance._usual_error, appearance._filled

    def learning(data: appearance.Seen, held: Components, chosen: np.ndarray) -> np.ndarray:
        rounds.append((chosen, {}))
        return usual(data, held, chosen)

    def filling(data: appearance.Seen, fill: Fill, row: int) -> tuple[np.ndarray, float]:
        found = filled(data, fill, row)
        rounds[-1][1][row] = found[1]
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(appearance, "_usual_error", learning)
        patch.setattr(appearance, "_filled", filling)
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


def test_those_with_most_hidden_are_left_out(people: FaceSet, model: Model, rounds: Rounds) -> None:
    """Each round learns from those of whom the one before saw most."""
    seen = len(appearance._read(people).textures)
    used = int(appearance.KEPT * seen)
    assert used < seen and len(rounds) == len(appearance.ROUNDS)
    assert rounds[0][0].tolist() == list(range(seen))
    for (_, hidden), (chosen, _) in pairwise(rounds):
        left = set(range(seen)) - set(chosen.tolist())
        assert len(chosen) == used
        assert min(hidden[row] for row in left) >= max(hidden[row] for row in chosen)
    assert f"; {used} faces seen from the front were used" in model.provenance
    assert len(model.texture.basis) == used - 1 and len(model.shape.basis) == seen - 1


def test_turned_heads_are_not_learnt_from(people: FaceSet) -> None:
    turned = people.points.copy()
    middle = turned[:4, :, 0].mean(axis=1, keepdims=True)
    turned[:4, :, 0] = middle + 0.4 * (turned[:4, :, 0] - middle)
    turned[:4, :, 2] *= 3
    before = appearance._read(people).textures
    assert len(appearance._read(replace(people, points=turned)).textures) < len(before)
