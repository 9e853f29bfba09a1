"""Where a new face lies in the place of an old one (thesis, section 6.2)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from everyface.faces.mesh import NOSE_TIP, OVAL
from everyface.merge.pose import MOST_SHIFT, face_size, place
from everyface.spaces.template import template


def moved(mesh: np.ndarray, turn: tuple[float, float, float], scale: float) -> np.ndarray:
    """Turn by degrees about x, y and z, scale, and shift a mesh."""
    turned = (mesh - mesh.mean(axis=0)) @ Rotation.from_euler("xyz", turn, degrees=True).as_matrix()
    return (turned * scale + [640, 420, 3]).astype(np.float32)


@settings(max_examples=30, deadline=None)
@given(
    turn=st.tuples(st.floats(-25, 25), st.floats(-40, 40), st.floats(-180, 180)),
    scale=st.floats(0.1, 4),
)
def test_a_turned_copy_is_turned_back(turn, scale):
    """The same face in another pose, size and place is laid exactly onto it."""
    face = template()
    target = moved(face, turn, scale)
    assert np.abs(place(face, target) - target).max() < 2e-3 * face_size(target)


def test_another_shape_is_kept():
    """A slightly wider face stays wider: only pose, size and place are taken over."""
    wide = template().copy()
    middle = wide[:, 0].mean()
    wide[:, 0] = middle + (wide[:, 0] - middle) * 1.05
    target = moved(template(), (5, 20, 10), 0.7)
    placed = place(wide, target)
    span = [np.linalg.norm(mesh[234] - mesh[454]) for mesh in (placed, target)]
    tall = [np.linalg.norm(mesh[10] - mesh[152]) for mesh in (placed, target)]
    assert (span[0] / tall[0]) / (span[1] / tall[1]) == pytest.approx(1.05, abs=0.005)


@pytest.mark.parametrize("stretch", [1.0, 1.3, 1.8])
def test_an_outline_never_moves_further_than_may_be_bent(stretch):
    jaw = template().copy()
    below = np.maximum(jaw[:, 1] - jaw[NOSE_TIP, 1], 0)
    jaw[:, 1] += below * np.float32(stretch - 1)
    target = template()
    far = np.linalg.norm((place(jaw, target) - target)[OVAL, :2], axis=1).max()
    assert far <= MOST_SHIFT * face_size(target) * 1.001
    assert (far > 1) == (stretch > 1)
