"""The command that finds the edits: measures on faces, and steps that change one of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from everyface.faces import FaceSet
from everyface.faces.align import crop_points
from everyface.faces.faceset import Crops
from everyface.faces.mesh import MOUTH_CORNERS
from everyface.spaces.latent.edits import LAYERS_OF, Edits
from everyface.training import edits

NAMES = list(LAYERS_OF)


def column(faces: FaceSet, name: str) -> np.ndarray:
    return edits.measure(faces)[:, NAMES.index(name)]


def test_a_smile_is_wide_and_lifted(faces: FaceSet) -> None:
    wide = faces.points.copy()
    middle = wide[:, MOUTH_CORNERS].mean(axis=1, keepdims=True)
    wide[:, MOUTH_CORNERS] = middle + 1.2 * (wide[:, MOUTH_CORNERS] - middle)
    lifted = faces.points.copy()
    lifted[:, MOUTH_CORNERS, 1] -= 10
    for points in (wide, lifted):
        assert (column(replace(faces, points=points), "smile") > column(faces, "smile")).all()
    assert column(replace(faces, points=3 * faces.points), "smile") == pytest.approx(
        column(faces, "smile")
    )


def test_light_and_where_it_comes_from(faces: FaceSet) -> None:
    some = faces.take(np.arange(6))
    crops = some.crops[:].astype(np.float32)
    darker = replace(some, crops=Crops((crops * 0.6).astype(np.uint8)))
    assert (column(darker, "light") < column(some, "light") - 5).all()
    ramp = np.linspace(0.5, 1.0, crops.shape[2])[:, None]
    sided = replace(some, crops=Crops((crops * ramp).astype(np.uint8)))
    assert (column(sided, "side") > column(some, "side") + 3).all()
    assert (column(sided, "yaw") == some.pose[:, 0]).all()
    assert (column(sided, "pitch") == some.pose[:, 1]).all()
    assert crop_points(some).shape == (6, 478, 3)


def test_regression_finds_directions_that_do_not_disturb_each_other() -> None:
    """Measures that depend on overlapping directions of the styles."""
    rng = np.random.default_rng(0)
    styles = rng.normal(size=(400, 30)).astype(np.float32)
    truth = rng.normal(size=(3, 30))
    truth[1] += 0.7 * truth[0]
    values = styles @ truth.T + 0.05 * rng.normal(size=(400, 3)) + [5, -3, 100]
    readings, directions = edits.regress(styles, values)
    cosine = (readings * truth).sum(axis=1)
    cosine /= np.linalg.norm(readings, axis=1) * np.linalg.norm(truth, axis=1)
    assert (cosine > 0.999).all()
    assert readings @ directions.T == pytest.approx(np.eye(3), abs=1e-5)
    one_step = (styles + directions[0]) @ truth.T - styles @ truth.T
    assert one_step.mean(axis=0) / values.std(axis=0) == pytest.approx([1, 0, 0], abs=0.02)


def test_what_is_saved_can_be_shipped(tmp_path: Path) -> None:
    held = Edits.shipped()
    edits.save(held, tmp_path / "edits.npz")
    with np.load(tmp_path / "edits.npz", allow_pickle=False) as back:
        assert tuple(back["names"]) == held.names
        assert (back["directions"] == held.directions).all()
        assert (back["layers"] == held.layers).all()
