"""The generator paints the same pixels from the same style, and reads a style at every place."""

from __future__ import annotations

import numpy as np
import pytest

from everyface.errors import InputError
from everyface.faces.finding import find
from everyface.faces.landmarks import pose
from everyface.spaces.latent.edits import Edits
from everyface.spaces.latent.generator import FULL, LAYERS, WIDTH, Generator, everywhere


@pytest.fixture(scope="module")
def generator() -> Generator:
    return Generator()


@pytest.fixture(scope="module")
def styles(generator: Generator) -> np.ndarray:
    """One person as drawn, with the nose to the right of the picture, as drawn, and nose up."""
    w = generator.w(generator.draw(1, seed=5), psi=0.6)
    yaw, pitch = np.array([[0.0, 1.5, 0.0, 0.0], [0.0, 0.0, 0.0, 1.5]])
    return Edits.shipped().apply(np.repeat(w, 4, axis=0), {"yaw": yaw, "pitch": pitch})


@pytest.fixture(scope="module")
def images(generator: Generator, styles: np.ndarray) -> np.ndarray:
    return generator.images(styles, 256)


def test_draws_and_styles(generator: Generator) -> None:
    z = generator.draw(3, seed=1)
    assert z.shape == (3, WIDTH) and (z == generator.draw(3, seed=1)).all()
    assert not (z == generator.draw(3, seed=2)).any(axis=1).all()
    assert generator.w(z[1:2]).tobytes() == generator.w(z)[1:2].tobytes()


def test_truncation_pulls_to_the_mean(generator: Generator) -> None:
    z = generator.draw(4, seed=3)
    whole, none, half = (generator.w(z, psi) for psi in (1.0, 0.0, 0.5))
    assert none == pytest.approx(np.tile(generator.mean, (4, 1)), abs=1e-6)
    assert half == pytest.approx((whole + generator.mean) / 2, abs=1e-5)
    assert np.linalg.norm(whole - generator.mean, axis=1).min() > 1


def test_pixels_do_not_depend_on_the_batch(images: np.ndarray) -> None:
    assert images.dtype == np.uint8 and images.shape == (4, 256, 256, 3)
    assert images[0].tobytes() == images[2].tobytes() != images[1].tobytes()


def test_portraits_are_faces_that_edits_turn_as_pose_says(images: np.ndarray) -> None:
    found = find([images[0], images[1], images[3]])
    assert [len(one.score) for one in found] == [1, 1, 1]
    (yaw, pitch, _), right, up = (pose(one.points)[0] for one in found)
    assert right[0] - yaw > 8
    assert up[1] - pitch > 5


def test_one_style_is_read_at_every_place() -> None:
    w = np.random.default_rng(0).normal(size=(2, WIDTH)).astype(np.float32)
    wide = everywhere(w)
    assert wide.shape == (2, LAYERS, WIDTH)
    assert (wide == w[:, None]).all()
    assert (everywhere(wide) == wide).all()


@pytest.mark.parametrize("shape", [(2, 100), (2, 5, WIDTH), (WIDTH,)])
def test_styles_of_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="styles have shape"):
        everywhere(np.zeros(shape, np.float32))


@pytest.mark.parametrize("size", [0, FULL + 1])
def test_sizes_that_cannot_be_painted_are_refused(generator: Generator, size: int) -> None:
    with pytest.raises(InputError, match="portraits of"):
        generator.images(np.zeros((1, WIDTH), np.float32), size)
