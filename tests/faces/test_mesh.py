"""The mesh is one disk without holes or overlaps, mirrored as faces are, and MediaPipe's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from everyface.faces import mesh
from everyface.faces.mesh import CANONICAL, MIRROR, OVAL, POINTS, TRIANGLES
from everyface.models import store

HIDDEN = {470, 472, 475, 477}


def edges() -> Counter[tuple[int, int]]:
    return Counter(
        (min(a, b), max(a, b))
        for triangle in TRIANGLES.tolist()
        for a, b in zip(triangle, triangle[1:] + triangle[:1], strict=True)
    )


def polygon_area(points: np.ndarray) -> float:
    x, y = points[:, 0].astype(float), points[:, 1].astype(float)
    return float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2)


def areas(points: np.ndarray) -> np.ndarray:
    return np.array([polygon_area(points[triangle]) for triangle in TRIANGLES])


def test_it_is_one_disk_whose_rim_is_the_oval() -> None:
    assert TRIANGLES.shape == (910, 3)
    used = set(TRIANGLES.ravel().tolist())
    assert used == set(range(POINTS)) - HIDDEN
    count = edges()
    assert set(count.values()) == {1, 2}
    rim = {edge for edge, times in count.items() if times == 1}
    around = zip(OVAL.tolist(), np.roll(OVAL, -1).tolist(), strict=True)
    assert rim == {(min(a, b), max(a, b)) for a, b in around}
    assert len(used) - len(count) + len(TRIANGLES) == 1  # Euler: a disk


def test_on_the_mean_face_no_triangle_is_folded() -> None:
    assert areas(CANONICAL).min() > 0
    assert areas(CANONICAL).sum() == pytest.approx(polygon_area(CANONICAL[OVAL]), rel=1e-5)


def test_the_mean_face_looks_into_the_camera_in_centimetres() -> None:
    centred = CANONICAL - CANONICAL[mesh.RIGID].mean(axis=0)
    assert CANONICAL[mesh.LEFT_EYE, 0].max() < 0 < CANONICAL[mesh.RIGHT_EYE, 0].min()
    assert CANONICAL[mesh.MOUTH_CORNERS, 1].min() > CANONICAL[mesh.IRISES, 1].max()
    assert centred[:, 2].argmin() in (1, 4, 5)  # the nose is nearest
    eyes = np.linalg.norm(np.diff(CANONICAL[mesh.IRISES], axis=0))
    assert 5.5 < eyes < 7.0  # people's eyes are about 6.3 cm apart


def test_the_mirror_is_an_involution_that_turns_left_to_right() -> None:
    assert (MIRROR[MIRROR] == np.arange(POINTS)).all()
    for left, right in (
        (mesh.LEFT_EYE, mesh.RIGHT_EYE),
        (mesh.LEFT_BROW, mesh.RIGHT_BROW),
        (mesh.LEFT_IRIS, mesh.RIGHT_IRIS),
    ):
        assert set(MIRROR[left].tolist()) == set(right.tolist())
    for whole in (OVAL, mesh.LIPS_OUTER, mesh.LIPS_INNER, mesh.RIGID, mesh.CHEEKS, mesh.FIVE):
        assert set(MIRROR[whole].tolist()) == set(whole.tolist())
    flipped = CANONICAL[MIRROR] * [-1, 1, 1]
    assert np.abs(flipped - CANONICAL).max() < 0.01


def test_triangles_of_the_mirror_are_triangles() -> None:
    """Up to the diagonals that a few quads may be cut along."""
    here = {frozenset(triangle) for triangle in TRIANGLES.tolist()}
    there = {frozenset(MIRROR[triangle].tolist()) for triangle in TRIANGLES}
    assert len(here - there) < 0.1 * len(here)


@pytest.mark.parametrize(
    "name", ["OVAL", "LEFT_EYE", "RIGHT_EYE", "LEFT_BROW", "RIGHT_BROW", "LIPS_OUTER", "LIPS_INNER"]
)
def test_contours_run_clockwise_without_crossing(name: str) -> None:
    contour = CANONICAL[getattr(mesh, name), :2].astype(float)
    assert polygon_area(contour) > 0
    ends = np.stack([contour, np.roll(contour, -1, axis=0)], axis=1)
    for i, (a, b) in enumerate(ends):
        for c, d in ends[i + 2 : len(ends) - (i == 0)]:
            assert side(a, b, c) == side(a, b, d) or side(c, d, a) == side(c, d, b)


def side(a: np.ndarray, b: np.ndarray, point: np.ndarray) -> bool:
    """On which side of the line a-b a point lies."""
    (x, y), (u, v) = b - a, point - a
    return bool(x * v - y * u > 0)


def test_five_are_the_recognisers_landmarks() -> None:
    assert mesh.FIVE.tolist() == [*mesh.IRISES, mesh.NOSE_TIP, *mesh.MOUTH_CORNERS]
    for iris, eye in ((468, mesh.LEFT_EYE), (473, mesh.RIGHT_EYE)):
        low, high = CANONICAL[eye].min(axis=0), CANONICAL[eye].max(axis=0)
        assert (low[:2] < CANONICAL[iris, :2]).all() and (CANONICAL[iris, :2] < high[:2]).all()


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of a protocol buffer, and the place after it."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def numbered(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protocol buffer."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
            yield key >> 3, value
            continue
        length, at = (4, at) if key & 7 == 5 else varint(data, at)
        yield key >> 3, data[at : at + length]
        at += length


def test_it_is_mediapipes_own_but_for_the_eyes() -> None:
    """Its file has vertices (field 3: x, y, z and two of a texture) and triangles (field 4), in
    axes that point up and to the camera, so that they run the other way round."""
    whole = store.fetch("mesh_geometry").read_bytes()
    [geometry] = [value for field, value in numbered(whole) if field == 1]
    assert isinstance(geometry, bytes)
    held = list(numbered(geometry))
    theirs = np.array([value for field, value in held if field == 4]).reshape(-1, 3)[:, ::-1]
    packed = b"".join(value for field, value in held if field == 3 and isinstance(value, bytes))
    vertices = np.frombuffer(packed, "<f4").reshape(-1, 5)[:, :3] * [1, -1, -1]

    def oriented(triangles: np.ndarray) -> set[tuple[int, ...]]:
        return {tuple(np.roll(t, -int(t.argmin())).tolist()) for t in triangles}

    ours, kept = oriented(TRIANGLES), oriented(theirs)
    irises = set(range(468, POINTS))
    eyes = {*mesh.LEFT_EYE.tolist(), *mesh.RIGHT_EYE.tolist()}
    for triangle in (ours - kept) | (kept - ours):
        assert set(triangle) <= eyes | irises
    assert len(kept) == 898 and len(kept - ours) <= 28
    # The shipped mean face is another than MediaPipe's, at its size and place.
    apart = np.linalg.norm(vertices - CANONICAL[:468], axis=1)
    assert apart.mean() < 0.4 and apart.max() < 1.5


def test_nobody_can_change_them() -> None:
    for name in mesh.__all__:
        held = getattr(mesh, name)
        if isinstance(held, np.ndarray):
            assert not held.flags.writeable, name
