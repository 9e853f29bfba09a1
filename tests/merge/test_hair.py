"""Hair in front of a face stays the photo's own; a surrogate keeps none of its people's hair."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from everyface.faces.mesh import LEFT_BROW, LEFT_EYE, LIPS_OUTER, OVAL
from everyface.merge import hair
from everyface.merge.pose import face_size
from tests.merge.drawing import hull_of, mesh_of

SIDE = 256
SKIN, HAIR, WALL = (205, 160, 135), (45, 32, 28), (150, 165, 170)


@pytest.fixture(scope="module")
def mesh() -> np.ndarray:
    return mesh_of(SIDE)


@pytest.fixture(scope="module")
def hull(mesh: np.ndarray) -> np.ndarray:
    return hull_of(mesh, SIDE)


def drawn(hull: np.ndarray, mesh: np.ndarray, fringe: bool, locks: bool = False) -> np.ndarray:
    """A bare face before a wall with a head of hair, and, if asked for, hair that hangs into it."""
    image = np.full((SIDE, SIDE, 3), WALL, np.uint8)
    middle = mesh[OVAL, :2].mean(axis=0).round().astype(int)
    cv2.ellipse(image, (int(middle[0]), int(middle[1]) - 25), (88, 100), 0, 180, 360, HAIR, -1)
    image[hull] = SKIN
    for part in hair.FEATURES[:4]:
        cv2.fillConvexPoly(image, np.round(mesh[part, :2]).astype(np.int32), (60, 45, 40))
    cv2.fillConvexPoly(image, np.round(mesh[LIPS_OUTER, :2]).astype(np.int32), (170, 80, 80))
    top = int(mesh[10, 1])
    if fringe:
        image[top - 6 : top + 24][hull[top - 6 : top + 24]] = HAIR
    if locks:
        left = int(mesh[234, 0])
        image[60:150, left - 5 : left + 9] = HAIR
    noise = np.random.default_rng(0).normal(0, 3, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8)


def test_features_are_where_the_mesh_has_them(mesh: np.ndarray) -> None:
    mask = hair.features(mesh, (SIDE, SIDE), 2)
    for part in (LEFT_EYE, LEFT_BROW, LIPS_OUTER):
        x, y = mesh[part, :2].mean(axis=0).round().astype(int)
        assert mask[y, x]
    for cheek in (50, 280, 151):
        x, y = mesh[cheek, :2].round().astype(int)
        assert not mask[y, x]
    assert hair.features(mesh, (SIDE, SIDE), 8).sum() > mask.sum()


def test_height_is_counted_from_the_brows_along_the_face(mesh: np.ndarray) -> None:
    """In distances of the eyes, also of a face that lies on its side."""
    height = hair.upness(mesh, (SIDE, SIDE))
    lying = mesh.copy()
    lying[:, 0], lying[:, 1] = SIDE - 1 - mesh[:, 1], mesh[:, 0]
    turned = np.rot90(hair.upness(lying, (SIDE, SIDE)))
    assert np.abs(turned - height).max() < 0.02
    x, y = mesh[10, :2].round().astype(int)
    assert 0.3 < height[y, x] < 1.0
    x, y = mesh[152, :2].round().astype(int)
    assert height[y, x] < -1.2


def test_a_bare_face_is_skin_and_nothing_hangs_before_it(
    mesh: np.ndarray, hull: np.ndarray
) -> None:
    found = hair.layers(drawn(hull, mesh, fringe=False), mesh, hull)
    inner = cv2.distanceTransform(hull.astype(np.uint8), cv2.DIST_L2, 5) > 12
    lenses = hair.lenses(mesh, (SIDE, SIDE), float(np.sqrt(hull.sum())))
    bare = inner & ~hair.features(mesh, (SIDE, SIDE), 10) & ~lenses
    assert found.skin[bare].mean() > 0.9
    assert not found.skin[lenses].any()
    assert found.front[inner].mean() < 0.02
    assert not found.skin[~hull].any()


def test_a_fringe_stays_in_front(mesh: np.ndarray, hull: np.ndarray) -> None:
    found = hair.layers(drawn(hull, mesh, fringe=True), mesh, hull)
    rows = np.zeros_like(hull)
    top = int(mesh[10, 1])
    rows[top + 3 : top + 18] = True
    middle = np.zeros_like(hull)
    middle[:, 90:166] = True
    assert found.front[hull & rows & middle].mean() > 0.7
    assert found.skin[hull & rows & middle].mean() < 0.1
    below = hull & (hair.upness(mesh, hull.shape) < -0.5)
    assert found.front[below].mean() < 0.05


def test_a_lock_along_the_cheek_stays_in_front(mesh: np.ndarray, hull: np.ndarray) -> None:
    left = int(mesh[234, 0])
    lock = np.zeros_like(hull)
    lock[80:130, left : left + 7] = True
    with_lock = hair.layers(drawn(hull, mesh, fringe=False, locks=True), mesh, hull)
    without = hair.layers(drawn(hull, mesh, fringe=False), mesh, hull)
    assert with_lock.front[hull & lock].mean() > without.front[hull & lock].mean() + 0.3


def test_the_old_features_do_not_stay(mesh: np.ndarray, hull: np.ndarray) -> None:
    """Dark brows and eyes are as dark as hair, and would look through the new face."""
    found = hair.layers(drawn(hull, mesh, fringe=False), mesh, hull)
    assert found.front[hair.features(mesh, hull.shape, 1) & hull].max() < 0.1


def test_what_shows_too_little_skin_hangs_nothing(mesh: np.ndarray, hull: np.ndarray) -> None:
    found = hair.layers(drawn(hull, mesh, fringe=False), mesh, np.zeros_like(hull))
    assert not found.front.any() and not found.skin.any()


def test_streaks_on_a_surrogates_forehead_are_pressed_flat(
    mesh: np.ndarray, hull: np.ndarray
) -> None:
    """Skin's own unevenness passes, and so do the features."""
    rng = np.random.default_rng(0)
    skin = np.log(np.array(SKIN, np.float32) + 20)
    face = skin + cv2.GaussianBlur(rng.normal(0, 0.05, (SIDE, SIDE)), (0, 0), 2)[..., None]
    face = face.astype(np.float32)
    depth = cv2.distanceTransform(hull.astype(np.uint8), cv2.DIST_L2, 5) / face_size(mesh)
    bare = hull & ~hair.features(mesh, hull.shape, 5)
    streaked = face.copy()
    top = int(mesh[10, 1])
    streaked[top + 12 : top + 26, 110:122] -= 0.5
    added = hair.tamed(streaked, mesh, bare, depth.astype(np.float32))
    streak = np.s_[top + 15 : top + 22, 112:120]
    left = np.abs((streaked + added - skin)[streak]).mean()
    assert left < 0.3 * np.abs((streaked - skin)[streak]).mean()
    calm = hair.tamed(face, mesh, bare, depth.astype(np.float32))
    assert np.abs(calm[bare]).mean() < 0.01
    cheek = hull & (hair.upness(mesh, hull.shape) < -0.3) & (depth > 0.15)
    assert np.abs(added[cheek]).max() < 1e-3
