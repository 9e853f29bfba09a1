"""One new face into its photo."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from everyface.arrays import F32, U8, AnyArray, Bool, as_f32
from everyface.errors import InputError
from everyface.faces.faceset import POINTS
from everyface.faces.mesh import OVAL, TRIANGLES
from everyface.merge import deform, glasses, grain, hair, tone
from everyface.merge.background import Background, apply_background
from everyface.merge.frame import Box, Small, box_of, smoothstep
from everyface.merge.pose import face_size, place
from everyface.merge.raster import lookup

REACH = 0.7
"""How far round the face the background may bend, as a share of the face's size."""

RING = 0.35
"""How far round the face the photo is looked at for hair and light."""

RIND = (0.025, 0.06)
"""The ring of the surrogate's texture that is not trusted, as shares of its size."""

EDGE = (0.01, 0.042)
"""Where inside the outline the new face begins and where it is full, as shares of its size."""


@dataclass(frozen=True)
class Surrogate:
    """A face that stands for another.

    Attributes
    ----------
    image
        (h, w, 3) RGB.
    points
        (478, 3) mesh in pixels of `image`.
    mask
        (h, w), 255 where `image` shows a face.
    """

    image: U8
    points: F32
    mask: U8


def into_photo(
    photo: U8,
    target: F32,
    face: Surrogate,
    *,
    background: Background | str = Background.KEEP,
    others: tuple[F32, ...] = (),
) -> U8:
    """Put `face` in the place of the face at `target`.

    The walk of the thesis' section 6.2: Procrustes places the surrogate, moving least squares
    bend the background to its outline, and Poisson cloning takes the seam away; hair in front of
    the face stays, and the new face takes the photo's light, sharpness and grain.

    Parameters
    ----------
    photo
        (h, w, 3) RGB. It is not changed.
    target
        (478, 3) mesh of the face to replace, in pixels of `photo`.
    face
        What comes in its place.
    background
        What happens to everything else; with several faces in a photo, merge them all with
        ``keep`` first and call `apply_background` once.
    others
        Meshes of other faces in the photo: their pixels are not touched, except where this
        face is the larger of two that overlap.
    """
    _check(photo, target, face)
    face = _clean(_grey_if(photo, face))
    size = face_size(target)
    mesh = place(face.points, target)
    whole = box_of(np.r_[mesh, target], REACH * size)
    roi = whole.within(photo.shape)
    out = photo.copy()
    tight = box_of(mesh, 2).within(photo.shape)
    if min(tight.shape) < 4:
        return out
    guards = _guards(target, others, roi)
    last = np.array(photo.shape[1::-1]) - 1
    shift = _shift(target, mesh, whole, roi, guards, last)
    roi.of(out)[:] = _bend(roi.of(photo), shift)
    near = box_of(mesh, RING * size).within(photo.shape)
    small = Small.of(near, tight, size)
    old = target.copy()
    old[:, :2] = _follow(target[:, :2] - roi.origin, shift, roi.shape) + roi.origin
    covered = _hull_mask((_hull(small.points(mesh)),), Box(0, 0, *small.shape[::-1]))
    free = ~_hull_mask(guards, near)
    near.of(out)[free] = glasses.removed(near.of(out), small.points(old), covered, small)[free]
    held = _hull_mask(guards, tight)
    tight.of(out)[:] = _lay(near.of(out), tight.of(out), old, mesh, face, small, held)
    policy = Background(background)
    return out if policy is Background.KEEP else apply_background(out, (mesh,), policy)


def _check(photo: U8, target: F32, face: Surrogate) -> None:
    if photo.ndim != 3 or photo.shape[2] != 3 or photo.dtype != np.uint8:
        raise InputError(
            f"the photo has shape {photo.shape} and type {photo.dtype}, expected RGB uint8"
        )
    for name, points in (("target", target), ("surrogate", face.points)):
        if points.shape != (POINTS, 3) or not np.isfinite(points).all():
            raise InputError(f"the {name} mesh is not {POINTS} finite points of x, y, z")
    if face.image.shape[:2] != face.mask.shape:
        raise InputError("the surrogate's mask is not as large as its image")


def _grey_if(photo: U8, face: Surrogate) -> Surrogate:
    """Return the surrogate in grey if the photo is grey."""
    if (photo[..., 0] == photo[..., 1]).all() and (photo[..., 1] == photo[..., 2]).all():
        grey = cv2.cvtColor(cv2.cvtColor(face.image, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
        return Surrogate(grey, face.points, face.mask)
    return face


def _clean(face: Surrogate) -> Surrogate:
    """Replace the outermost ring of the texture by what lies inside it.

    A texture is read from photos up to the very outline, where there is ear, hair or wall as often
    as skin, and a turned pose stretches just this ring.
    """
    size = face_size(face.points)
    inside = cv2.distanceTransform(_mesh_mask(face), cv2.DIST_L2, 5)
    weight = smoothstep((inside / size - RIND[0]) / (RIND[1] - RIND[0]))
    step = max(1, round(size / 40))
    shape = face.image.shape[1::-1]
    low = (max(4, shape[0] // step), max(4, shape[1] // step))
    sure = cv2.resize((weight > 0.99).astype(np.float32), low, interpolation=cv2.INTER_AREA)
    colour = cv2.resize(face.image.astype(np.float32), low, interpolation=cv2.INTER_AREA)
    sure = sure[..., None] * (sure > 0.99)[..., None]
    filled = np.zeros_like(colour)
    found = np.zeros_like(sure)
    for sigma in (1.5, 3.0, 6.0):
        share = cv2.GaussianBlur(sure, (0, 0), sigma)[..., None]
        spread = cv2.GaussianBlur(colour * sure, (0, 0), sigma) / np.maximum(share, 1e-6)
        fresh = (share > 0.02) & (found == 0)
        filled, found = np.where(fresh, spread, filled), np.maximum(found, fresh)
    wide = cv2.resize(filled.astype(np.float32), shape, interpolation=cv2.INTER_CUBIC)
    image = wide + weight[..., None] * (face.image - wide)
    return Surrogate(np.clip(np.rint(image), 0, 255).astype(np.uint8), face.points, face.mask)


def _mesh_mask(face: Surrogate) -> U8:
    mask = np.zeros(face.mask.shape, np.uint8)
    cv2.fillPoly(mask, [np.round(face.points[OVAL, :2]).astype(np.int32)], 1)
    return mask & (face.mask > 127)


def _guards(target: F32, others: tuple[F32, ...], roi: Box) -> tuple[F32, ...]:
    """Return the outlines of the other faces in reach that win where two faces overlap."""
    mine = (face_size(target), *target[:, :2].mean(0).tolist())
    hulls = []
    for other in others:
        box = box_of(other, 0)
        apart = box.x1 < roi.x0 or box.x0 > roi.x1 or box.y1 < roi.y0 or box.y0 > roi.y1
        if apart or (other.shape == target.shape and np.array_equal(other, target)):
            continue
        hull = _hull(other)
        larger = mine > (face_size(other), *other[:, :2].mean(0).tolist())
        hulls.append((hull, larger))
    own = _hull(target)
    return tuple(
        hull
        for hull, larger in hulls
        if not (larger and cv2.intersectConvexConvex(hull, own)[0] > 0)
    )


def _hull(points: F32) -> F32:
    hull: F32 = cv2.convexHull(np.ascontiguousarray(points[:, :2], np.float32))[:, 0]
    return hull


def _hull_mask(hulls: tuple[F32, ...], box: Box) -> Bool:
    mask = np.zeros(box.shape, np.uint8)
    for hull in hulls:
        cv2.fillConvexPoly(mask, np.round(hull - box.origin).astype(np.int32), 1)
    return mask > 0


def _handles(target: F32) -> list[int]:
    """Return the outline points that are seen: on a turned face some lie before the far cheek."""
    hull = _hull(target)
    slack = 0.05 * face_size(target)
    return [i for i in OVAL if cv2.pointPolygonTest(hull, target[i, :2].tolist(), True) < slack]


def _shift(
    target: F32, mesh: F32, whole: Box, roi: Box, guards: tuple[F32, ...], last: AnyArray
) -> F32:
    """Return the background's displacement on a lattice over `roi`."""
    nodes = deform.lattice(*roi.shape)
    at = nodes + roi.origin
    reach = 0.45 * REACH * face_size(target)
    edge = np.minimum.reduce(
        [
            at[..., 0] - whole.x0,
            whole.x1 - 1 - at[..., 0],
            at[..., 1] - whole.y0,
            whole.y1 - 1 - at[..., 1],
        ]
    )
    window = smoothstep(as_f32(edge / reach))
    for hull in guards:
        away = [-cv2.pointPolygonTest(hull, tuple(p), True) for p in at.reshape(-1, 2).tolist()]
        clear = np.array(away).reshape(edge.shape)
        window *= smoothstep(as_f32(clear / (0.2 * reach) - 0.2))
    index = _handles(target)
    start = (target[index, :2] - roi.origin).astype(np.float64)
    end = (mesh[index, :2] - roi.origin).astype(np.float64)
    most = np.stack([-0.7 * at, 0.7 * (last - at)], -1)
    return deform.backward(start, end, nodes, window.astype(np.float64), most)


def _bend(image: U8, shift: F32) -> U8:
    if not shift.any():
        return image
    height, width = image.shape[:2]
    maps = deform.dense(shift, height, width)
    maps[..., 0] += np.arange(width, dtype=np.float32)
    maps[..., 1] += np.arange(height, dtype=np.float32)[:, None]
    bent: U8 = cv2.remap(image, maps, None, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return bent


def _follow(points: F32, shift: F32, shape: tuple[int, int]) -> F32:
    """Return where points of the picture are after it was bent: the inverse of the lookup."""
    rows, cols = shift.shape[:2]
    step = np.array(
        [(cols - 1) / max(shape[1] - 1, 1), (rows - 1) / max(shape[0] - 1, 1)], np.float32
    )
    now = points.astype(np.float32)
    for _ in range(6):
        at = np.ascontiguousarray((now * step)[:, None])
        moved = cv2.remap(shift, at, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)[:, 0]
        now = points - moved
    return now


def _draw(face: Surrogate, mesh: F32, shape: tuple[int, int]) -> tuple[F32, F32]:
    """Draw the surrogate at `mesh`; return its pixels and, 0 to 1, where they mean something."""
    shrink = min(1.0, face_size(mesh) / face_size(face.points))
    image, mask, uv = face.image, face.mask, face.points[:, :2]
    if shrink < 0.9:
        size = (max(8, round(image.shape[1] * shrink)), max(8, round(image.shape[0] * shrink)))
        factor = np.array([size[0] / image.shape[1], size[1] / image.shape[0]], np.float32)
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
        mask = cv2.resize(mask, size, interpolation=cv2.INTER_AREA)
        uv = (uv + 0.5) * factor - 0.5
    maps = lookup(mesh, uv, TRIANGLES, shape)
    drawn = cv2.remap(image, maps, None, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    seen = cv2.remap(mask, maps, None, cv2.INTER_LINEAR) * (maps[..., 0] >= 0)
    return drawn.astype(np.float32), seen.astype(np.float32) / 255


def _lay(near: U8, tight: U8, old: F32, mesh: F32, face: Surrogate, small: Small, held: Bool) -> U8:
    """Return `tight` with the face laid into it."""
    around = small.down(near)
    place_small, old_small = small.points(mesh), small.points(old)
    drawn, seen = _draw(face, place_small, small.shape)
    size = face_size(place_small)
    hull = seen > 0.5
    depth = cv2.distanceTransform(hull.astype(np.uint8), cv2.DIST_L2, 5) / size
    theirs = hair.layers(around, old_small, hull)
    bare = ~hair.features(place_small, small.shape, 0.03 * size) & hull & (depth > EDGE[0])
    skin = theirs.skin * (bare & ~hair.lenses(place_small, small.shape, size))
    tame = hair.tamed(tone.to_log(drawn), place_small, bare, depth)
    rim = ((depth > EDGE[0]) & (depth < EDGE[0] + 0.045) & (skin > 0.5)).astype(np.float32)
    gain = tame + tone.correction(tone.to_log(around), tone.to_log(drawn) + tame, hull, skin, rim)
    front = _refine(theirs.front, around, tight, small, size)
    cover = smoothstep((small.up(depth.astype(np.float32)) - EDGE[0]) / (EDGE[1] - EDGE[0]))
    full, _ = _draw(face, mesh - np.r_[small.tight.origin, 0].astype(np.float32), small.tight.shape)
    lit = tone.from_log(tone.to_log(full) + small.up(gain))
    lit = grain.match(lit, tight, (small.up(skin) > 0.7))
    alpha = (cover * (1 - front) * ~held)[..., None]
    mixed = tight + alpha * (lit - tight)
    return np.clip(np.rint(mixed), 0, 255).astype(np.uint8)


def _refine(front: F32, around: U8, tight: U8, small: Small, size: float) -> F32:
    """Sharpen the hair's mask to the strands of the photo by a guided filter (He et al. 2013)."""
    guide = grain.luma(around) / 255
    radius = 2 * max(2, round(0.025 * size)) + 1

    def mean(values: AnyArray) -> F32:
        return as_f32(cv2.boxFilter(as_f32(values), -1, (radius, radius)))

    average, value = mean(guide), mean(front)
    slope = (mean(guide * front) - average * value) / (mean(guide * guide) - average**2 + 2e-4)
    offset = mean(value - slope * average)
    fine = small.up(mean(slope)) * (grain.luma(tight) / 255) + small.up(offset)
    return smoothstep(as_f32((fine - 0.08) / 0.8))
