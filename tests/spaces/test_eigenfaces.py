"""Eigenfaces span the pixels of the faces they were found from."""

from __future__ import annotations

import numpy as np
import pytest

from everyface.errors import InputError
from everyface.faces.faceset import FaceSet
from everyface.spaces import Eigenfaces, Pixels, eigenfaces


def test_with_enough_components_nothing_is_lost(faces: FaceSet) -> None:
    """Distances are those of the pixels, and so is every drawn face."""
    space = Eigenfaces().fit(faces)
    codes, pixels = space.transform(faces), Pixels().fit(faces).transform(faces)
    assert codes.shape == (24, 23)
    ours, theirs = (np.linalg.norm(held[:, None] - held[None], axis=2) for held in (codes, pixels))
    assert ours == pytest.approx(theirs, abs=2)
    drawn = space.draw(codes[:2]).images.astype(int)
    assert np.abs(drawn - Pixels().fit(faces).draw(pixels[:2]).images).max() <= 1


def test_a_mean_of_codes_is_the_mean_of_pixels(faces: FaceSet) -> None:
    space = Eigenfaces().fit(faces)
    mean = space.draw(space.transform(faces)[:6].mean(axis=0, keepdims=True)).images.astype(int)
    pixels = Pixels().fit(faces)
    wanted = pixels.draw(pixels.transform(faces)[:6].mean(axis=0, keepdims=True)).images
    assert np.abs(mean - wanted).max() <= 1


def test_components_and_side_are_as_asked(faces: FaceSet) -> None:
    space = Eigenfaces(components=5, side=64).fit(faces)
    assert space.transform(faces).shape == (24, 5)
    assert space.pixels_.side == 64
    variances = space.transform(faces).var(axis=0, ddof=1)
    assert variances == pytest.approx(space.components_.variances, rel=1e-3)


def test_a_large_set_is_learnt_from_in_part(
    faces: FaceSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From faces spread over all of it."""
    monkeypatch.setattr(eigenfaces, "MOST_FITTED", 4)
    space = Eigenfaces(side=64).fit(faces)
    assert len(space.components_.basis) == 3
    chosen = Pixels(64).fit(faces).transform(faces.take(np.array([0, 8, 15, 23])))
    assert space.components_.mean == pytest.approx(chosen.mean(axis=0), abs=1e-2)


def test_what_cannot_be_fitted_is_refused(faces: FaceSet) -> None:
    with pytest.raises(InputError, match="cannot be found from 1 faces"):
        Eigenfaces().fit(faces.take(np.array([0])))
    with pytest.raises(InputError, match="0 components"):
        Eigenfaces(components=0).fit(faces)
