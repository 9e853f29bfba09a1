"""What hangs in front of the face: fringe, locks and hairline stay the photo's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from everyface.arrays import F32, F64, U8, AnyArray, Bool, as_f32
from everyface.faces.mesh import LEFT_BROW, LEFT_EYE, LIPS_OUTER, RIGHT_BROW, RIGHT_EYE
from everyface.merge.pose import face_size
from everyface.merge.tone import smooth_fit

NOSTRILS = np.array([98, 97, 2, 326, 327, 278, 1, 48])
BROWS = (LEFT_BROW, RIGHT_BROW)
FEATURES = (LEFT_EYE, RIGHT_EYE, *BROWS, LIPS_OUTER, NOSTRILS)

PLAIN = 0.04
"""How far, in logarithms, plain skin may depart from its smooth model."""


@dataclass(frozen=True)
class Layers:
    """What each pixel of the small frame shows, 0 to 1.

    Attributes
    ----------
    skin
        Bare skin, features left out.
    front
        Hair or background in front of the face: it stays.
    """

    skin: F32
    front: F32


def features(
    points: F32, shape: tuple[int, int], grow: float, parts: Sequence[AnyArray] = FEATURES
) -> Bool:
    """Return where eyes, brows, mouth and nostrils are, grown by `grow` pixels."""
    mask = np.zeros(shape, np.uint8)
    for part in parts:
        hull = cv2.convexHull(points[part, :2].astype(np.float32))
        cv2.fillConvexPoly(mask, np.round(hull * 16).astype(np.int32), 1, shift=4)
    size = 2 * max(1, round(grow)) + 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
    return np.asarray(cv2.dilate(mask, kernel) > 0)


def lenses(points: F32, shape: tuple[int, int], size: float) -> Bool:
    """Return where glasses would be: no witness of the skin's colour."""
    mask = np.zeros(shape, np.uint8)
    for eye in (LEFT_EYE, RIGHT_EYE):
        centre = points[eye, :2].mean(0)
        cv2.circle(mask, np.round(centre).astype(int).tolist(), round(0.19 * size), 1, -1)
    return mask > 0


def upness(points: F32, shape: tuple[int, int]) -> F32:
    """Return the height over the brows, in interocular distances, along the face's own axis."""
    left, right = points[LEFT_EYE, :2].mean(0), points[RIGHT_EYE, :2].mean(0)
    brows = points[np.r_[LEFT_BROW, RIGHT_BROW], :2].mean(0)
    across = right - left
    unit = float(np.linalg.norm(across)) + 1e-6
    up = points[10, :2] - points[152, :2]
    up = up / (float(np.linalg.norm(up)) + 1e-6)
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    return as_f32(((x - brows[0]) * up[0] + (y - brows[1]) * up[1]) / max(unit, 1.0))


def _cost(lab: F32, model: F32, precision: F64) -> F32:
    rest = lab - model
    return as_f32(cv2.transform(rest * cv2.transform(rest, precision), np.ones((1, 3))))


def layers(image: U8, points: F32, hull: Bool) -> Layers:
    """Tell skin from what lies in front of it, from this photo's own colours.

    Cheeks, nose and the lower forehead say what this skin looks like in this light (a quadratic
    in the position, so a lit and a shaded side both count); the ring around the upper half of the
    face says what is not skin. Hair is what looks like the ring rather than like the skin,
    hangs together with it, and lies over the brows or along the sides.
    """
    shape = image.shape[:2]
    size = float(np.sqrt(hull.sum())) + 1
    lab = cv2.cvtColor(image, cv2.COLOR_RGB2LAB).astype(np.float32)
    lab = cv2.bilateralFilter(lab, 5, 12, 2)
    inside = cv2.distanceTransform(hull.astype(np.uint8), cv2.DIST_L2, 3)
    outside = cv2.distanceTransform((~hull).astype(np.uint8), cv2.DIST_L2, 3)
    height = upness(points, shape)
    bare = hull & ~features(points, shape, 0.03 * size)
    bare &= ~lenses(points, shape, size)
    sample = (bare & (inside > 0.07 * size) & (height < 0.25)).astype(np.float32)
    if sample.sum() < 40:
        return Layers(bare.astype(np.float32), np.zeros(shape, np.float32))
    model = smooth_fit(lab, sample, ridge=0.02)
    rest = (lab - model)[sample > 0]
    near = rest[np.abs(rest).sum(1) < 2.5 * np.median(np.abs(rest).sum(1)) + 1]
    cov = np.cov(near.T.astype(np.float64)) + np.diag([30.0, 6.0, 6.0])
    skin_cost = _cost(lab, model, np.linalg.inv(cov))
    ring = (outside > 0.03 * size) & (outside < 0.15 * size) & (height > -0.3) & (skin_cost > 7)
    if ring.sum() < 30:
        return Layers((bare & (skin_cost < 9)).astype(np.float32), np.zeros(shape, np.float32))
    other, kind = _like_ring(lab, ring)
    chance = 1 / (1 + np.exp(-np.clip(0.35 * (skin_cost - other) - 0.8, -30, 30)))
    chance = (
        chance
        * _allowed(inside / size, height)
        * (1 - _features_seen(chance, points, height, size))
    )
    beard = (outside > 0) & (outside < 0.1 * size) & (height < -0.6) & (other < 8)
    beard &= skin_cost > other + 4
    front = _hanging(chance.astype(np.float32), kind, ring | beard, hull)
    skin = bare * np.clip((12 - skin_cost) / 6, 0, 1) * (1 - front)
    return Layers(skin.astype(np.float32), front)


def _features_seen(chance: F32, points: F32, height: F32, size: float) -> F32:
    """Return where the old features are, unless a fringe comes down over them.

    Brows may stand higher than the mesh has them; what is left of one is a second brow.
    """
    forehead = ((height > 0.2) & (height < 0.7)).astype(np.float32)
    spread = 0.05 * size
    weight = cv2.GaussianBlur(forehead, (0, 0), spread)
    fringe = cv2.GaussianBlur(chance * forehead, (0, 0), spread) / np.maximum(weight, 1e-4)
    covered = np.clip((fringe - 0.5) / 0.3, 0, 1) * np.clip((height + 0.25) / 0.1, 0, 1)
    shape = (chance.shape[0], chance.shape[1])
    seen = features(points, shape, 0.035 * size) | features(points, shape, 0.075 * size, BROWS)
    return as_f32(seen * (1 - covered))


def _allowed(depth: F32, height: F32) -> F32:
    """Return where anything may hang in front: forehead and sides, and a beard's soft fringe."""
    forehead = np.clip((height + 0.1) / 0.2, 0, 1)
    side = np.clip((0.12 - depth) / 0.06, 0, 1)
    jaw = np.clip(1 - depth / 0.15, 0, 1)
    below = np.clip((-0.6 - height) / 0.5, 0, 1)
    return as_f32(np.maximum(forehead, side * (1 - below) + jaw * below))


def _like_ring(lab: F32, ring: Bool) -> tuple[F32, U8]:
    """Return how far each pixel is from the nearest of the ring's colours, and from which."""
    colours = lab[ring]
    cv2.setRNGSeed(1)
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 12, 0.5)
    _, label, _ = cv2.kmeans(colours, 3, None, stop, 2, cv2.KMEANS_PP_CENTERS)
    costs = []
    for k in range(3):
        part = colours[label[:, 0] == k].astype(np.float64)
        if len(part) < 8:
            continue
        precision = np.linalg.inv(np.cov(part.T) + np.diag([30.0, 6.0, 6.0]))
        costs.append(_cost(lab, part.mean(0).astype(np.float32), precision))
    stack = np.stack(costs)
    return stack.min(0), stack.argmin(0).astype(np.uint8)


def _hanging(chance: F32, kind: U8, ring: Bool, hull: Bool) -> F32:
    """Keep only what hangs together with its own kind outside the face.

    A highlight on the forehead may look like the wall behind the head, but hair lies between.
    """
    kept = np.zeros(hull.shape, np.uint8)
    near = cv2.dilate((hull | ring).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    for k in range(int(kind.max()) + 1):
        alike = (kind == k) & near & ((chance > 0.3) | ~hull)
        _, label = cv2.connectedComponents(alike.astype(np.uint8))
        roots = np.unique(label[alike & ring])
        kept |= (np.isin(label, roots[roots > 0])).astype(np.uint8)
    kept = cv2.dilate(kept, np.ones((5, 5), np.uint8)).astype(np.float32)
    return as_f32(chance * hull * cv2.GaussianBlur(kept, (0, 0), 1.5))


def tamed(drawn: F32, points: F32, bare: Bool, depth: F32) -> F32:
    """Return what to add to the drawn surrogate (log) so that no ghost of hair is left in it.

    A mean of people of whom some wear a fringe has streaks on its forehead and dark or white
    patches along its outline. Over the brows and near the outline a face is plain skin: there,
    departures from the smooth skin model are pressed together; what is within the normal
    unevenness of skin passes unchanged.

    Parameters
    ----------
    drawn
        (h, w, 3) logarithms.
    points
        Mesh in the same frame.
    bare
        Where the surrogate shows skin and no feature.
    depth
        Distance inwards from the outline, in face sizes.
    """
    height = upness(points, drawn.shape[:2])
    sample = (bare & (depth > 0.08) & (height < 0.2)).astype(np.float32)
    if sample.sum() < 40:
        return np.zeros_like(drawn)
    rest = drawn - smooth_fit(drawn, sample, ridge=0.02, degree=1)
    forehead = np.clip((height + 0.05) / 0.15, 0, 1)
    edge = np.clip((0.09 - depth) / 0.05, 0, 1)
    zone = np.maximum(forehead, edge) * ~features(points, drawn.shape[:2], 0.02 * face_size(points))
    zone = cv2.GaussianBlur(zone.astype(np.float32), (0, 0), 1.5)
    pressed = PLAIN * np.tanh(rest / PLAIN) - rest
    return as_f32(pressed * zone[..., None])
