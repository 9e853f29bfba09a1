"""From photos to the faces in them, and to the doubts that keep a photo from a release.

Two networks must agree on a face: the detector, and the mesh network, which says whether
it sees a face where the detector says so. Where they agree, it is a face. Where the detector is
sure and the mesh network is not, there may be half a face at the edge, a profile, a hand: nobody
can replace it well, and nobody may release it, so the photo is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from everyface.arrays import F32, I32, U8, AnyArray, Bool
from everyface.faces.detection import Detections, detect, overlap, together
from everyface.faces.landmarks import meshes

SURE = 0.5
"""From here on a score or a presence speaks for a face."""

VERY_SURE = 0.9
"""From here on the mesh network's word is enough."""

DOUBT = 0.6
"""From here on the detector alone is enough to refuse a photo."""

_SAME = 0.45
_NESTED = 0.7
"""From here on a face within a surer one is a mouth or a forehead taken for a face. (Two people one
before the other share less: each hides the other's features.)"""

_INSIDE = 0.5
_MIDST = 0.25
"""A doubtful box of which a face fills this share at least is that face with its hair."""


@dataclass(frozen=True)
class Found:
    """The faces of one photo from left to right, and why it must be refused, if it must."""

    box: F32
    points: F32
    score: F32
    presence: F32
    refusal: str = ""


def find(photos: Sequence[U8]) -> list[Found]:
    """Return the faces of each photo."""
    found = _look(photos, thorough=False)
    empty = [i for i, one in enumerate(found) if not len(one.score) and not one.refusal]
    if empty:
        again = _look([photos[i] for i in empty], thorough=True)
        for i, one in zip(empty, again, strict=True):
            found[i] = one if len(one.score) or one.refusal else _nothing(one)
    return found


def _look(photos: Sequence[U8], *, thorough: bool) -> list[Found]:
    candidates = detect(photos, thorough=thorough)
    counts = [len(one) for one in candidates]
    photo = np.repeat(np.arange(len(photos), dtype=np.int32), counts)
    every = together(candidates)
    mesh = meshes(photos, photo, every)
    return [
        _decide(every.take(rows), mesh.points[rows], mesh.presence[rows])
        for rows in (np.flatnonzero(photo == number) for number in range(len(photos)))
    ]


def _nothing(one: Found) -> Found:
    return Found(one.box, one.points, one.score, one.presence, "no face was found in it")


def _decide(candidates: Detections, points: F32, presence: F32) -> Found:
    """Tell faces from doubts from errors."""
    score = candidates.score
    is_face = (presence >= SURE) & (score >= SURE) | (presence >= VERY_SURE)
    boxes = _mesh_boxes(points)
    rows = _distinct(boxes, score * presence, np.flatnonzero(is_face))
    doubt = (~is_face) & ((score >= DOUBT) | (presence >= SURE))
    doubt &= ~_covered(candidates.box, np.concatenate([boxes[rows], candidates.box[rows]]))
    rows = rows[np.argsort(boxes[rows, 0] + boxes[rows, 2], kind="stable")]
    return Found(
        boxes[rows], points[rows], score[rows], presence[rows], _refusal(candidates.box[doubt])
    )


def _refusal(doubtful: F32) -> str:
    if not len(doubtful):
        return ""
    x, y = doubtful[0].reshape(2, 2).mean(axis=0).round().astype(int)
    more = f", and at {len(doubtful) - 1} more places" if len(doubtful) > 1 else ""
    return f"there may be a face at x = {x}, y = {y}{more} that could not be made out"


def _mesh_boxes(points: F32) -> F32:
    return np.concatenate([points[..., :2].min(axis=1), points[..., :2].max(axis=1)], axis=1)


def _distinct(boxes: F32, worth: F32, rows: AnyArray) -> I32:
    """Keep one row a face, the surest of meshes that settled on one place or in each other."""
    kept: list[int] = []
    for row in rows[np.argsort(-worth[rows], kind="stable")]:
        if not kept or (
            overlap(boxes[row], boxes[kept]).max() < _SAME
            and _shared(boxes[[row]], boxes[kept]).max() < _NESTED
            and _shared(boxes[kept], boxes[[row]]).max() < _NESTED
        ):
            kept.append(int(row))
    return np.array(kept, dtype=np.int32)


def _covered(boxes: F32, faces: F32) -> Bool:
    """Tell which boxes are faces already found: at least half inside one, or closely round one."""
    if not len(faces):
        return np.zeros(len(boxes), bool)
    part, whole = _shared(boxes, faces), _shared(faces, boxes).T
    same = (part >= _INSIDE) | (whole >= _NESTED) & (part >= _MIDST)
    return np.asarray(same.any(axis=1))


def _shared(boxes: F32, others: F32) -> F32:
    """Return which share of each box lies inside each of the others, (n, m)."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    area = np.maximum((boxes[:, 2:] - boxes[:, :2]).prod(axis=1), 1e-6)
    return np.asarray((high - low).clip(min=0).prod(axis=2) / area[:, None])
