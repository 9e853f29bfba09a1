"""A face becomes as soft and as noisy as the photo it stands in."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from everyface.merge.grain import band, luma, match, spread

SKIN = np.zeros((200, 200), bool)
SKIN[30:170, 30:170] = True


def noisy(deviation: float, sigma: float = 0, seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).standard_normal((200, 200)).astype(np.float32)
    noise = cv2.GaussianBlur(noise, (0, 0), sigma) if sigma else noise
    return (128 + deviation * noise / noise.std())[..., None] * np.ones(3, np.float32)


def photo(deviation: float, sigma: float = 0) -> np.ndarray:
    return np.clip(np.rint(noisy(deviation, sigma, seed=1)), 0, 255).astype(np.uint8)


def fine(image: np.ndarray) -> float:
    return spread(band(luma(image), 0, 2.0)[SKIN])


@pytest.mark.parametrize("deviation", [4.0, 9.0, 16.0])
def test_a_smooth_face_gets_the_photos_grain(deviation: float) -> None:
    face, like = noisy(0.3, 3), photo(deviation)
    made = match(face, like, SKIN)
    assert 0.5 * fine(like) < fine(made) < 1.1 * fine(like)
    assert np.abs(made.mean() - face.mean()) < 0.5
    assert np.ptp(made - face, axis=-1).max() < 1e-3  # grain is grey


@pytest.mark.parametrize("sigma", [1.0, 1.5])
def test_a_sharp_face_gets_as_soft_as_the_photo(sigma: float) -> None:
    face, like = noisy(12), photo(3, sigma)
    assert fine(face) > 3 * fine(like)
    assert fine(match(face, like, SKIN)) < 1.3 * fine(like)


def test_a_face_like_the_photo_stays_as_it_is() -> None:
    face = noisy(6)
    made = match(face, photo(6), SKIN)
    assert np.abs(made - face).mean() < 1


def test_grain_is_the_same_in_every_run_and_takes_nothing_from_the_photo() -> None:
    """The photo says how strong it is; the pattern is always the same."""
    face = noisy(0.1, 3)
    one, two = (match(face, noisy(9, seed=s).clip(0, 255).astype(np.uint8), SKIN) for s in (1, 2))
    assert (one == match(face, noisy(9, seed=1).clip(0, 255).astype(np.uint8), SKIN)).all()
    a, b = ((image - face)[SKIN][:, 0] for image in (one, two))
    assert np.corrcoef(a, b)[0, 1] > 0.99
    original = noisy(9, seed=1)[SKIN][:, 0]
    assert abs(np.corrcoef(a, original)[0, 1]) < 0.05


def test_without_skin_nothing_is_done() -> None:
    face = noisy(5)
    assert match(face, photo(20), np.zeros((200, 200), bool)) is face


def test_edges_do_not_move_the_spread() -> None:
    values = np.random.default_rng(0).normal(0, 2, 10_000)
    values[:500] = 400
    assert spread(values) == pytest.approx(2, rel=0.1)
    assert spread(np.zeros(0)) == 0
