"""Edits move what they name, at their layers, and leave the other measures where they are."""

from __future__ import annotations

import numpy as np
import pytest

from everyface.errors import InputError
from everyface.spaces.latent.edits import LAYERS_OF, Edits
from everyface.spaces.latent.generator import LAYERS, WIDTH


@pytest.fixture(scope="module")
def edits() -> Edits:
    return Edits.shipped()


@pytest.fixture
def styles() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(3, WIDTH)).astype(np.float32)


def test_they_are_as_the_code_says(edits: Edits) -> None:
    assert edits.names == tuple(LAYERS_OF)
    assert edits.layers.tolist() == [list(layers) for layers in LAYERS_OF.values()]
    assert edits.directions.shape == edits.readings.shape == (len(edits.names), WIDTH)
    assert np.isfinite(edits.directions).all() and (edits.deviation > 0).all()


def test_a_step_changes_its_own_reading_and_no_other(edits: Edits) -> None:
    change = edits.readings @ edits.directions.T
    own = np.diag(change)
    assert (own > 0).all()
    assert np.abs(change - np.diag(own)).max() < 1e-3 * own.min()


@pytest.mark.parametrize("name", sorted(LAYERS_OF))
def test_a_step_is_taken_at_its_layers_alone(edits: Edits, styles: np.ndarray, name: str) -> None:
    first, end = LAYERS_OF[name]
    steps = np.array([0.0, 1.0, -2.0])
    moved = edits.apply(styles, {name: steps}) - styles[:, None]
    assert moved.shape == (3, LAYERS, WIDTH)
    direction = edits.directions[edits.names.index(name)]
    for row, step in enumerate(steps):
        assert moved[row, first:end] == pytest.approx(
            np.tile(step * direction, (end - first, 1)), abs=1e-5
        )
    outside = np.r_[:first, end:LAYERS]
    assert not moved[:, outside].any()


def test_edits_add_up_and_leave_the_styles_alone(edits: Edits, styles: np.ndarray) -> None:
    before, ones = styles.copy(), np.ones(3)
    both = edits.apply(styles, {"smile": ones, "yaw": -ones})
    one_by_one = edits.apply(edits.apply(styles, {"smile": ones}), {"yaw": -ones})
    assert both == pytest.approx(one_by_one, abs=1e-5)
    assert (styles == before).all()
    wide = np.repeat(styles[:, None], LAYERS, axis=1)
    kept = wide.copy()
    edits.apply(wide, {"light": ones})
    assert (wide == kept).all()


def test_readings_are_linear_in_the_offset(edits: Edits, styles: np.ndarray) -> None:
    read = edits.read(styles)
    assert set(read) == set(LAYERS_OF)
    assert read["yaw"] == pytest.approx(styles @ edits.readings[edits.names.index("yaw")], abs=1e-4)
    moved = edits.read(styles + edits.directions[edits.names.index("yaw")])
    assert (moved["yaw"] > read["yaw"]).all()
    assert moved["smile"] == pytest.approx(read["smile"], abs=1e-3)


def test_an_unknown_edit_is_refused(edits: Edits, styles: np.ndarray) -> None:
    with pytest.raises(InputError, match="no edit 'frown'"):
        edits.apply(styles, {"frown": np.ones(3)})
