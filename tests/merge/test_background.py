"""Each policy leaves nothing of the background's detail, however fine or however bright."""

from __future__ import annotations

import numpy as np
import pytest

from everyface.merge import Background, apply_background, gives_away
from everyface.merge.background import GREY
from everyface.merge.pose import face_size
from everyface.spaces.template import face_mask, template

HEIGHT, WIDTH = 512, 700


@pytest.fixture(scope="module")
def photo() -> np.ndarray:
    """Noise on a coarse pattern of colours: all the detail that a photo can have."""
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (16, 22, 3)).repeat(32, axis=0).repeat(32, axis=1)
    noise = rng.normal(0, 30, (HEIGHT, WIDTH, 3))
    return np.clip(coarse[:HEIGHT, :WIDTH] + noise, 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def mesh() -> np.ndarray:
    return (template() * np.float32(0.7) + np.float32([60, 90, 0])).astype(np.float32)


@pytest.fixture(scope="module")
def outside(mesh: np.ndarray) -> np.ndarray:
    whole = np.zeros((HEIGHT, WIDTH), bool)
    whole[:512, :512] = face_mask(mesh, 512)[:HEIGHT] > 0
    return ~whole


def energy(image: np.ndarray, where: np.ndarray) -> float:
    down, across = np.gradient(image.astype(np.float64).mean(axis=2))
    return float((down**2 + across**2)[where].mean())


def inner(outside: np.ndarray) -> np.ndarray:
    """Off the picture's edge and the outline, where differences reach over to the face."""
    shrunk = outside.copy()
    for axis in (0, 1):
        for step in (-2, -1, 1, 2):
            shrunk &= np.roll(outside, step, axis)
    return shrunk


def test_blur_leaves_no_detail(photo: np.ndarray, mesh: np.ndarray, outside: np.ndarray) -> None:
    """Gradients fall to a thousandth, and what is left varies only over a good part of the face."""
    blurred = apply_background(photo, [mesh], "blur")
    where = inner(outside)
    assert energy(blurred, where) < 1e-3 * energy(photo, where)
    row = blurred[HEIGHT // 12, :].astype(float).mean(axis=1)
    row -= np.polyval(np.polyfit(np.arange(WIDTH), row, 2), np.arange(WIDTH))
    power = np.abs(np.fft.rfft(row * np.hanning(WIDTH))) ** 2
    finest = round(WIDTH / (0.3 * face_size(mesh)))
    assert power[finest:].sum() < 0.05 * power[1:].sum()


@pytest.mark.parametrize("scale", [0.15, 0.4, 1.0])
def test_blur_goes_by_the_size_of_the_face(
    photo: np.ndarray, mesh: np.ndarray, scale: float
) -> None:
    small = (mesh * np.float32(scale)).astype(np.float32)
    blurred = apply_background(photo, [small], "blur")
    corner = np.s_[380:500, 560:690]
    deviation = blurred[corner].astype(float).std()
    assert deviation < photo[corner].astype(float).std() * 0.75
    if scale == 1.0:
        finer = apply_background(photo, [(mesh * np.float32(0.15)).astype(np.float32)], "blur")
        assert deviation < finer[corner].astype(float).std()


def test_the_strength_of_a_blur_rises(photo: np.ndarray, mesh: np.ndarray, outside) -> None:
    where = inner(outside)
    left = [
        energy(apply_background(photo, [mesh], "blur", strength), where)
        for strength in (0.1, 0.3, 0.6, 1.0)
    ]
    assert (np.diff(left) < 0).all() and left[0] < energy(photo, where)


def test_mean_is_one_colour_and_that_of_what_it_hides(
    photo: np.ndarray, mesh: np.ndarray, outside: np.ndarray
) -> None:
    made = apply_background(photo, [mesh], "mean")
    colours = np.unique(made[outside], axis=0)
    assert len(colours) == 1
    assert np.abs(colours[0] - photo[outside].mean(axis=0)).max() < 2


def test_mask_is_grey_whatever_the_photo(
    photo: np.ndarray, mesh: np.ndarray, outside: np.ndarray
) -> None:
    for held in (photo, 255 - photo):
        assert (apply_background(held, [mesh], "mask")[outside] == GREY).all()


def test_two_photos_that_differ_in_the_background_alone_are_masked_to_the_same_bytes(
    photo: np.ndarray, mesh: np.ndarray, outside: np.ndarray
) -> None:
    other = np.where(outside[..., None], 255 - photo, photo)
    same = [apply_background(held, [mesh], "mask").tobytes() for held in (photo, other)]
    assert same[0] == same[1]


@pytest.mark.parametrize("policy", ["blur", "mean", "mask"])
def test_every_face_is_kept(photo: np.ndarray, mesh: np.ndarray, policy: str) -> None:
    both = (mesh, (mesh * np.float32(0.5) + np.float32([420, 150, 0])).astype(np.float32))
    made = apply_background(photo, both, policy)
    for one in both:
        x, y = one[4, :2].round().astype(int)
        assert (made[y - 5 : y + 6, x - 5 : x + 6] == photo[y - 5 : y + 6, x - 5 : x + 6]).all()
    without = apply_background(photo, both[:1], policy)
    x, y = both[1][4, :2].round().astype(int)
    assert (without[y - 5 : y + 6, x - 5 : x + 6] != made[y - 5 : y + 6, x - 5 : x + 6]).any()


@pytest.mark.parametrize("policy", list(Background))
def test_photos_without_faces_are_treated_whole(photo: np.ndarray, policy: Background) -> None:
    before = photo.copy()
    made = apply_background(photo, [], policy)
    assert (photo == before).all() and made is not photo
    everywhere = np.ones((HEIGHT, WIDTH), bool)
    if policy is Background.KEEP:
        assert (made == photo).all()
    else:
        assert energy(made, everywhere) < 1e-2 * energy(photo, everywhere)


def test_what_each_policy_gives_away_is_said() -> None:
    said = {gives_away(policy) for policy in Background}
    assert len(said) == len(Background) and min(map(len, said)) > 40
    with pytest.raises(ValueError, match="fog"):
        gives_away("fog")
