"""The new face takes the old one's light: factors of brightness, fitted on bare skin alone."""

from __future__ import annotations

import numpy as np
import pytest

from everyface.merge.membrane import OUTSIDE
from everyface.merge.tone import STEP, correction, from_log, smooth_fit, spread, to_log

SHAPE = (96, 80)


def disk(radius: float, soft: bool = False) -> np.ndarray:
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    away = np.hypot(x - 40, y - 48)
    return np.clip(radius - away, 0, 1).astype(np.float32) if soft else away < radius


def quadratic(a: float, b: float, c: float) -> np.ndarray:
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]].astype(np.float32) / 100
    return (a + b * x + c * x * y)[..., None] * np.float32([1, 0.8, 0.5])


def rim_of(face: np.ndarray) -> np.ndarray:
    return (face & ~disk(24)).astype(np.float32)


def test_logarithms_there_and_back() -> None:
    image = np.random.default_rng(0).integers(0, 256, (9, 9, 3), dtype=np.uint8)
    assert from_log(to_log(image)) == pytest.approx(image.astype(float), abs=1e-2)
    assert from_log(to_log(image) + np.float32(0.1)).dtype == np.float32


@pytest.mark.parametrize("degree", [1, 2])
def test_a_polynomial_is_fitted_and_drawn_all_over(degree: int) -> None:
    values = quadratic(1, 2, 3 if degree == 2 else 0)
    found = smooth_fit(values, disk(30).astype(np.float32), ridge=0, degree=degree)
    assert found == pytest.approx(values, abs=2e-2)


def test_what_does_not_fit_does_not_pull() -> None:
    """A tenth of the skin is a scar or a strand: robustly left out."""
    values = quadratic(1, 1, 1)
    spoilt = values.copy()
    spoilt[40:52, 30:44] += 5
    found = smooth_fit(spoilt, disk(30).astype(np.float32), ridge=0)
    assert np.abs(found - values)[disk(30)].max() < 0.1


def test_light_is_taken_over_and_features_are_not() -> None:
    """The photo is the face in another light: bright on the right, and with a mole.

    The correction is that light; the mole stays where it was."""
    rng = np.random.default_rng(0)
    source = (4 + 0.1 * rng.normal(size=(*SHAPE, 1))).astype(np.float32) * np.ones(3, np.float32)
    light = quadratic(-0.3, 0.8, 0)
    target = source + light
    target[44:50, 36:42] -= 1
    face = disk(32)
    skin = disk(30, soft=True)
    found = correction(target, source, face, skin, rim_of(face) * 0)
    inside = disk(25)
    assert np.abs(found - light)[inside].max() < 0.1


def test_no_step_remains_at_a_rim_of_bare_skin() -> None:
    face, rim = disk(32), rim_of(disk(32))
    source = np.zeros((*SHAPE, 3), np.float32) + 4
    y = np.mgrid[: SHAPE[0], : SHAPE[1]][0].astype(np.float32)
    wave = 0.1 * np.sin(y / 6)[..., None] * np.ones(3, np.float32)
    target = source + wave
    skin = disk(22, soft=True)
    free = correction(target, source, face, skin, rim * 0)
    held = correction(target, source, face, skin, rim)
    where = rim * disk(29) > 0
    assert np.abs(target - source - held)[where].mean() < 0.5 * np.abs(wave)[where].mean()
    assert (
        np.abs(target - source - held)[where].mean() < np.abs(target - source - free)[where].mean()
    )


def test_hair_at_the_rim_does_not_bleed_in() -> None:
    """Where the photo shows dark hair at the rim, no darkness comes into the face."""
    face, rim = disk(32), rim_of(disk(32))
    source = np.zeros((*SHAPE, 3), np.float32) + 4
    target = source.copy()
    target[:30] -= 2.0
    skin = disk(30, soft=True)
    skin[:30] = 0
    found = correction(target, source, face, skin, rim)
    assert np.abs(found).max() <= STEP + 1e-3
    assert np.abs(found[face]).mean() < 0.05


def test_without_skin_the_mean_is_taken() -> None:
    source = np.zeros((*SHAPE, 3), np.float32) + 4
    none = np.zeros(SHAPE, np.float32)
    found = correction(source - 0.5, source, disk(32), none, none)
    assert found == pytest.approx(np.full(found.shape, -0.5), abs=1e-3)


def test_the_edge_is_carried_outwards_and_the_inside_is_not_touched() -> None:
    kind = np.zeros(SHAPE, np.uint8)
    kind[disk(20)] = 1
    field = np.where(kind[..., None] != OUTSIDE, np.full(3, 3.0), 0).astype(np.float32)
    found = spread(field, kind)
    assert (found[kind != OUTSIDE] == 3).all()
    assert found[disk(22)] == pytest.approx(np.full((disk(22).sum(), 3), 3.0), abs=0.01)
