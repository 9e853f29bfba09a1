"""The embedding space is a recogniser's vectors at length one."""

from __future__ import annotations

import numpy as np
import pytest

from everyface.errors import InputError
from everyface.faces.faceset import FaceSet
from everyface.faces.identity import embedded, recogniser
from everyface.spaces import Embedding, SynthesisSpace


@pytest.mark.parametrize("name", ["sface", "dlib"])
def test_vectors_have_length_one_and_the_recognisers_direction(faces: FaceSet, name: str) -> None:
    codes = Embedding(name).fit(faces).transform(faces)
    assert np.linalg.norm(codes, axis=1) == pytest.approx(np.ones(len(faces)), abs=1e-5)
    held = embedded(faces, name)
    assert codes * np.linalg.norm(held, axis=1)[:, None] == pytest.approx(held, abs=1e-4)


def test_near_means_alike(faces: FaceSet) -> None:
    codes = Embedding().fit(faces).transform(faces)
    alike = recogniser("sface").similarity(embedded(faces, "sface"), embedded(faces, "sface"))
    away = np.linalg.norm(codes[:, None] - codes[None], axis=2)
    assert away**2 == pytest.approx(2 - 2 * alike, abs=1e-3)


def test_an_unknown_recogniser_is_refused_at_once(faces: FaceSet) -> None:
    with pytest.raises(InputError, match="no recogniser named 'nobody'"):
        Embedding("nobody").fit(faces)


def test_it_cannot_draw() -> None:
    assert not issubclass(Embedding, SynthesisSpace)
