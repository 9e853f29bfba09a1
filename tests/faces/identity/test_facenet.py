"""FaceNet's cut and its whitening; the network itself is held by `tests/models/test_keras.py`."""

from __future__ import annotations

import numpy as np
import pytest

from everyface.faces.identity import facenet, sface


def test_pictures_come_with_mean_0_and_deviation_1() -> None:
    face = np.random.default_rng(0).integers(20, 90, (160, 160, 3), dtype=np.uint8)
    white = facenet._whitened(face)
    assert white.dtype == np.float32
    assert white.mean() == pytest.approx(0, abs=1e-4) and white.std() == pytest.approx(1, abs=1e-4)
    # Twice as bright, or with twice the contrast, is the same picture to the network.
    assert facenet._whitened(face + 100) == pytest.approx(white, abs=1e-4)
    assert facenet._whitened(face * 2) == pytest.approx(white, abs=1e-4)
    assert (facenet._whitened(np.full((160, 160, 3), 77, np.uint8)) == 0).all()


def test_the_template_is_sfaces_in_a_larger_square() -> None:
    """Enlarged about the middle of the picture, by less than the side: more of the head is seen."""
    grown = facenet.TEMPLATE - (facenet.SIDE - 1) / 2
    assert grown == pytest.approx(1.25 * (sface.TEMPLATE - (sface.SIDE - 1) / 2))
    assert facenet.SIDE / sface.SIDE > 1.25
