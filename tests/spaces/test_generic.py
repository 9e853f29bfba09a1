"""The shipped appearance model: what it is made of, how it is kept, and the canvas it lays out."""

from __future__ import annotations

from importlib.resources import files
from io import BytesIO

import cv2
import numpy as np
import pytest
from sklearn.base import clone

from everyface.faces import FaceSet
from everyface.faces.align import FACE, crop_points, face_transform
from everyface.faces.mesh import MIRROR, TRIANGLES
from everyface.models import registry
from everyface.spaces import Appearance, Pixels
from everyface.spaces.appearance import space as appearance
from everyface.spaces.appearance.generic import Model, canvas, generic
from everyface.spaces.appearance.raster import rasterise, spread
from everyface.spaces.appearance.shape import frontalise, mean_shape, mirror_index
from everyface.spaces.appearance.space import rigid_weights
from everyface.spaces.components import Components

from .checks import sharpness

MEGABYTE = 1_000_000


def test_it_is_small_and_says_what_it_was_trained_on() -> None:
    shipped = files("everyface.spaces.appearance") / "generic.npz"
    assert len(shipped.read_bytes()) < 60 * MEGABYTE
    told = generic().provenance
    assert "synthetic portraits" in told and "no photograph of a real person" in told
    for name in ("stylegan_mapping", "stylegan_synthesis"):
        assert name in told and registry.entry(name)


def test_its_mean_face_is_symmetric_and_lies_in_the_frame() -> None:
    face = generic().reference
    mirrored = face[MIRROR].copy()
    mirrored[:, 0] = FACE - 1 - mirrored[:, 0]
    assert np.abs(mirrored - face)[:, :2].max() < 1.5
    assert face_transform(face) == pytest.approx(np.eye(2, 3), abs=0.02)


@pytest.mark.parametrize("half", ["shape", "texture"])
def test_its_components_are_components(half: str) -> None:
    """Also after they were kept in eight bits a number."""
    held: Components = getattr(generic(), half)
    lengths = np.linalg.norm(held.basis.astype(np.float64), axis=1)
    assert lengths == pytest.approx(np.ones(len(lengths)), abs=0.01)
    few = held.basis[:20].astype(np.float64)
    assert np.abs(few @ few.T - np.eye(20)).max() < 0.02
    assert (np.diff(held.variances) <= 0).all() and held.variances[-1] > 0
    assert held.basis.shape[1] == (1434 if half == "shape" else canvas().packing.length)


def test_it_is_kept_in_little_and_comes_back() -> None:
    rng = np.random.default_rng(0)
    made = Model(
        generic().reference,
        Components(rng.normal(size=30), np.linalg.qr(rng.normal(size=(30, 4)))[0].T, np.ones(4)),
        Components(rng.normal(size=50), np.linalg.qr(rng.normal(size=(50, 6)))[0].T, np.ones(6)),
        rng.uniform(1, 9, (5, 4)).astype(np.float32),
        rng.uniform(1, 9, (3, 5, 4)).astype(np.float32),
        "drawn at random",
    )
    file = BytesIO()
    made.save(file)
    file.seek(0)
    back = Model.load(file)
    assert back.provenance == "drawn at random"
    assert (back.reference == made.reference).all()
    for half in ("shape", "texture"):
        ours, theirs = getattr(made, half), getattr(back, half)
        step = np.abs(ours.basis).max(axis=1, keepdims=True) / 127
        assert (np.abs(theirs.basis - ours.basis) <= 0.51 * step).all()
        assert theirs.mean == pytest.approx(ours.mean, abs=2e-3)
        assert theirs.basis.dtype == theirs.mean.dtype == np.float32
    assert back.error == pytest.approx(made.error, rel=1e-3)
    assert back.energy == pytest.approx(made.energy, rel=1e-3)


def test_a_strangers_face_is_drawn_well_by_it(faces: FaceSet, shipped_model: Appearance) -> None:
    """What it leaves out of people it never saw: less than half of what they differ by."""
    space = shipped_model
    codes = space.transform(faces.take(np.arange(0, 24, 4)))
    split = len(space.model_.shape.basis)
    packed = [
        canvas().packing.pack(texture)
        for _, _, textures in appearance._measured(faces.take(np.arange(0, 24, 4)))
        for texture in textures
    ]
    held = space.model_.texture.rebuild(codes[:, split:])
    lost = np.linalg.norm(held - packed, axis=1)
    assert (lost < 0.5 * np.linalg.norm(packed - space.model_.texture.mean, axis=1)).all()


def test_pixels_are_interpolated_within_their_triangle() -> None:
    points = np.array([[2, 3], [20, 5], [8, 24], [26, 27]], np.float32)
    triangles = np.array([[0, 1, 2], [1, 3, 2]], np.int32)
    ids, bary = rasterise(points, triangles, 32, 30)
    y, x = np.mgrid[:32, :30].astype(np.float32)
    inside = ids >= 0
    grid, expected = np.stack([x, y], -1), np.zeros((32, 30), bool)
    for corners in points[triangles]:
        ahead = np.roll(corners, -1, axis=0) - corners
        away = grid[:, :, None] - corners
        expected |= (ahead[:, 0] * away[..., 1] - ahead[:, 1] * away[..., 0] >= 0).all(axis=-1)
    assert (inside == expected).all()
    assert bary[inside].min() >= -1e-3
    assert bary[inside].sum(axis=1) == pytest.approx(np.ones(inside.sum()), abs=1e-4)
    where = spread(points, triangles, ids, bary, outside=-1)
    assert where[inside] == pytest.approx(np.stack([x, y], -1)[inside], abs=1e-3)
    assert (where[~inside] == -1).all()


def test_a_triangle_without_area_draws_nothing() -> None:
    points = np.array([[2, 2], [9, 9], [20, 20]], np.float32)
    ids, _ = rasterise(points, np.array([[0, 1, 2]], np.int32), 30, 30)
    assert (ids == -1).all()


def test_a_texture_does_not_depend_on_where_the_face_stood(faces: FaceSet) -> None:
    """Read from a shape, written onto another and read again, it is the same."""
    frame = canvas()
    row = 14
    texture = frame.read(faces.crops[row], crop_points(faces)[row])
    other = generic().reference.copy()
    other[:, 0] = (other[:, 0] - 256) * 0.9 + 256
    image, cover = frame.write(texture, other, FACE)
    again = frame.read(np.clip(np.round(image), 0, 255).astype(np.uint8), other)
    inner = cv2.erode(frame.inside.astype(np.uint8), np.ones((9, 9))) > 0
    assert np.abs(again - texture)[inner].mean() < 2
    assert set(np.unique(cover)) == {0, 1}


def test_what_is_turned_away_is_not_seen() -> None:
    """Of a head turned to the right of the picture, the right cheek goes."""
    face = generic().reference
    a = np.radians(55)
    turn = np.array([[np.cos(a), 0, -np.sin(a)], [0, 1, 0], [np.sin(a), 0, np.cos(a)]])
    middle = face.mean(axis=0)
    turned = ((face - middle) @ turn.T + middle).astype(np.float32)
    frame = canvas()
    assert frame.seen(face, face)[frame.inside].min() > 0.99
    shown = frame.seen(turned, face)
    half = frame.width // 2
    right, left = (shown[:, cut][frame.inside[:, cut]] for cut in (slice(half, None), slice(half)))
    assert right.mean() < 0.5 < left.mean()


def test_the_canvas_covers_the_mesh() -> None:
    frame = canvas()
    assert frame.height % 4 == frame.width % 4 == 0
    a, b, c = (frame.points[TRIANGLES[:, corner]].astype(float) for corner in range(3))
    area = ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]).sum() / 2
    assert frame.inside.sum() == pytest.approx(area, rel=0.01)


def test_the_mean_shape_is_that_of_many(faces: FaceSet) -> None:
    """Symmetric, and nearer to all than each of them is to the others."""
    points, weights = crop_points(faces), rigid_weights()
    canonical = generic().reference
    mean = mean_shape(points, canonical, weights)
    other = mirror_index(canonical)
    assert np.abs(mean[other] * [-1, 1, 1] - mean).max() < 1e-3
    onto = frontalise(points, mean, weights)
    assert np.abs(onto.mean(axis=0) - mean).max() < 0.05 * np.ptp(mean[:, 0])


def test_a_code_is_written_as_in_eq_3_8_to_3_11(
    faces: FaceSet, own_model: Appearance, shipped_model: Appearance
) -> None:
    """γ = (r Φsᵀ(s − s̄), Φtᵀ(t − t̄)), and r² = ‖λt‖₁ / ‖λs‖₁."""
    some = faces.take(np.arange(0, 24, 5))
    for space in (own_model, shipped_model):
        shape, texture = space.model_.shape, space.model_.texture
        r = np.sqrt(np.abs(texture.variances).sum() / np.abs(shape.variances).sum())
        codes = space.transform(some)
        for rows, forms, textures in appearance._measured(some):
            for row, form, held in zip(range(len(some))[rows], forms, textures, strict=True):
                alpha = shape.basis @ (form.ravel() - shape.mean)
                beta = texture.basis @ (canvas().packing.pack(held) - texture.mean)
                wanted = np.concatenate([r * alpha, beta])
                assert codes[row] == pytest.approx(wanted, abs=1e-3 * float(np.abs(wanted).max()))


def test_a_mean_of_codes_is_the_code_of_the_mean_shape_and_texture(
    faces: FaceSet, own_model: Appearance
) -> None:
    """With fewer faces than components k-Same-M loses nothing to PCA."""
    space = own_model
    five = faces.take(np.arange(0, 10, 2))
    [(_, forms, textures)] = list(appearance._measured(five))
    split = len(space.model_.shape.basis)
    code = space.transform(five).mean(axis=0, keepdims=True)
    shape = space.model_.shape.rebuild(code[:, :split] / space.weight_)[0]
    assert shape == pytest.approx(forms.mean(axis=0).ravel(), abs=0.05)
    texture = space.model_.texture.rebuild(code[:, split:])[0]
    packed = np.mean([canvas().packing.pack(held) for held in textures], axis=0)
    assert np.abs(texture - packed).mean() < 0.2
    assert space.draw(code).points[0].ravel() == pytest.approx(forms.mean(axis=0).ravel(), abs=0.05)


def test_averages_keep_more_detail_than_those_of_pixels(
    faces: FaceSet, own_model: Appearance
) -> None:
    """The gradient energy of the mean face, as a share of its members' (thesis 2.3.2).

    Measured over 24 photos: 0.14 in pixels, 0.26 in appearance, 0.48 with detail given back."""
    share = {}
    plain = clone(own_model).set_params(detail=False)
    plain.model_, plain.weight_ = own_model.model_, own_model.weight_
    for name, space in (
        ("pixels", Pixels().fit(faces)),
        ("appearance", plain),
        ("with detail", own_model),
    ):
        codes = space.transform(faces)
        mean = sharpness(space.draw(codes.mean(axis=0, keepdims=True)))[0]
        share[name] = mean / sharpness(space.draw(codes[::2])).mean()
    assert share["pixels"] < 0.18
    assert share["appearance"] > 1.5 * share["pixels"]
    assert 1.4 * share["appearance"] < share["with detail"] < 1
