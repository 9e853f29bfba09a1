"""Finding every face: YuNet over scales, tiles and turns of a photo, merged into one list.

A face that is not found is a face that is released, so the photo is looked at whole, coarsely and
finely, in overlapping tiles, and turned by quarters. What the network finds twice is one face.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from everyface.arrays import F32, U8, AnyArray
from everyface.models.runtime import network

MODEL = "yunet_fp32"
LEAST_SCORE = 0.4
"""Below this YuNet's word counts for nothing; `landmarks` decides about what is above it."""

LEAST_FACE = 16
"""The smallest face side looked for, in pixels of the photo (or 1/200 of a long photo's side)."""

_COARSE, _FINE = 320, 640
_FINEST = 3200
_OVERLAP = 96
_STRIDES = (8, 16, 32)
_SAME = 0.35
_FLAT = 12
_CHUNK = 8


@dataclass(frozen=True)
class Detections:
    """Candidates of one photo, best first: (n, 4) boxes, (n, 5, 2) points, (n,) scores.

    The points are left eye, right eye, nose, left and right mouth corner *as the face stands*: of a
    face that lies on its side the left eye is above or below the right one.
    """

    box: F32
    five: F32
    score: F32

    def __len__(self) -> int:
        return len(self.score)

    def take(self, rows: AnyArray) -> Detections:
        """Return some of the candidates."""
        return Detections(self.box[rows], self.five[rows], self.score[rows])


@dataclass(frozen=True)
class _View:
    """One square that the network sees: a tile of a scaled photo, turned by quarters."""

    pixels: U8
    turns: int
    x: int
    y: int
    scale: tuple[float, float]
    inner: tuple[bool, bool, bool, bool]

    def to_photo(self, points: F32) -> F32:
        """Bring (n, 2) points of the view to the photo."""
        side = len(self.pixels)
        x, y = points[:, 0], points[:, 1]
        for _ in range(self.turns):
            x, y = side - 1 - y, x
        return np.stack(
            [
                (x + self.x + 0.5) / self.scale[0] - 0.5,
                (y + self.y + 0.5) / self.scale[1] - 0.5,
            ],
            axis=1,
        ).astype(np.float32)


def detect(photos: Sequence[U8], *, thorough: bool = False) -> list[Detections]:
    """Return the candidate faces of each photo.

    Parameters
    ----------
    photos
        (h, w, 3) RGB each.
    thorough
        Look at the turned photos as finely as at the upright ones; for photos in which nothing
        was found otherwise.
    """
    parts: list[list[Detections]] = [[] for _ in photos]
    waiting: dict[int, list[tuple[int, _View]]] = {_COARSE: [], _FINE: []}
    for number, photo in enumerate(photos):
        for view in _views(photo, thorough):
            queue = waiting[len(view.pixels)]
            queue.append((number, view))
            if len(queue) == _CHUNK:
                _run(queue, parts)
    for queue in waiting.values():
        _run(queue, parts)
    return [_distinct(together(found)) for found in parts]


def _views(photo: U8, thorough: bool) -> Iterator[_View]:
    longest = max(photo.shape[:2])
    yield from _tiles(photo, _COARSE / longest / 2, _COARSE, (0,))
    yield from _tiles(photo, _COARSE / longest, _COARSE, (0, 1, 2, 3))
    finest = min(1.0, _FINEST / longest)
    scale = _FINE / longest
    yield from _tiles(photo, scale, _FINE, (0, 1, 2, 3) if thorough else (0,))
    while scale < finest:
        scale = min(scale * 2, finest)
        yield from _tiles(photo, scale, _FINE, (0, 1, 2, 3) if thorough else (0,))


def _tiles(photo: U8, scale: float, side: int, turns: tuple[int, ...]) -> Iterator[_View]:
    """Cut the scaled photo into squares that overlap by more than the faces left to them."""
    height, width = photo.shape[:2]
    across, down = max(1, round(width * scale)), max(1, round(height * scale))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    level: U8 = cv2.resize(photo, (across, down), interpolation=how)
    exact = (across / width, down / height)
    for y in _starts(down, side):
        for x in _starts(across, side):
            part = level[y : y + side, x : x + side]
            if int(part.max()) - int(part.min()) < _FLAT:
                continue
            canvas = np.zeros((side, side, 3), np.uint8)
            canvas[: part.shape[0], : part.shape[1]] = part
            inner = (x > 0, y > 0, x + side < across, y + side < down)
            for turn in turns:
                turned = np.ascontiguousarray(np.rot90(canvas, turn))
                yield _View(turned, turn, x, y, exact, inner)


def _starts(length: int, side: int) -> list[int]:
    if length <= side:
        return [0]
    count = math.ceil((length - _OVERLAP) / (side - _OVERLAP))
    return [round(i * (length - side) / (count - 1)) for i in range(count)]


def _run(queue: list[tuple[int, _View]], parts: list[list[Detections]]) -> None:
    """Run the network over views of one size and sort what it finds to their photos."""
    if not queue:
        return
    side = len(queue[0][1].pixels)
    batch = np.stack([view.pixels[..., ::-1].transpose(2, 0, 1) for _, view in queue])
    outputs = list(network(MODEL, (3, side, side)).run(batch).values())
    for row, (number, view) in enumerate(queue):
        found = _decoded([output[row] for output in outputs], side)
        if len(found):
            parts[number].append(_home(found, view))
    queue.clear()


def _decoded(outputs: list[F32], side: int) -> Detections:
    """Read YuNet's twelve maps (class, object, box, points at three strides)."""
    boxes, points, scores = [], [], []
    for level, stride in enumerate(_STRIDES):
        cells, objects, box, five = (outputs[kind * 3 + level] for kind in range(4))
        score = np.sqrt(cells[:, 0].clip(0, 1) * objects[:, 0].clip(0, 1))
        at = np.flatnonzero(score >= LEAST_SCORE)
        corner = np.stack([at % (side // stride), at // (side // stride)], axis=1)
        centre = (corner + box[at, :2]) * stride
        half = np.exp(box[at, 2:]) * stride / 2
        boxes.append(np.concatenate([centre - half, centre + half], axis=1))
        points.append((five[at].reshape(-1, 5, 2) + corner[:, None]) * stride)
        scores.append(score[at])
    return Detections(
        np.concatenate(boxes).astype(np.float32),
        np.concatenate(points).astype(np.float32),
        np.concatenate(scores).astype(np.float32),
    )


def _home(found: Detections, view: _View) -> Detections:
    """Bring a view's finds to the photo; leave what a tile's edge cuts to the next tile."""
    side = len(view.pixels)
    box = found.box
    corners = np.stack([box[:, [0, 1]], box[:, [2, 1]], box[:, [2, 3]], box[:, [0, 3]]], axis=1)
    upright = _View(view.pixels, view.turns, 0, 0, (1.0, 1.0), view.inner)
    inside = upright.to_photo(corners.reshape(-1, 2)).reshape(-1, 4, 2)
    low, high = inside.min(axis=1), inside.max(axis=1)
    left, top, right, bottom = view.inner
    cut = (low[:, 0] < 2) & left | (low[:, 1] < 2) & top
    cut |= (high[:, 0] > side - 3) & right | (high[:, 1] > side - 3) & bottom
    keep = np.flatnonzero(~cut)
    home = view.to_photo(corners[keep].reshape(-1, 2)).reshape(-1, 4, 2)
    five = view.to_photo(found.five[keep].reshape(-1, 2)).reshape(-1, 5, 2)
    boxes = np.concatenate([home.min(axis=1), home.max(axis=1)], axis=1)
    return Detections(boxes, five, found.score[keep])


def together(parts: Sequence[Detections]) -> Detections:
    """Return the candidates of several lists as one list."""
    nothing = Detections(*(np.zeros((0, *rest), np.float32) for rest in ((4,), (5, 2), ())))
    return Detections(
        np.concatenate([nothing.box, *(part.box for part in parts)]),
        np.concatenate([nothing.five, *(part.five for part in parts)]),
        np.concatenate([nothing.score, *(part.score for part in parts)]),
    )


def _distinct(found: Detections) -> Detections:
    """Leave out what shows a face that a better candidate shows."""
    order = np.argsort(-found.score, kind="stable")
    kept: list[int] = []
    for row in order:
        if not kept or overlap(found.box[row], found.box[kept]).max() < _SAME:
            kept.append(int(row))
    return found.take(np.array(kept, dtype=np.int64))


def overlap(box: F32, others: F32) -> F32:
    """Return intersection over union of one box with (n, 4) others."""
    low = np.maximum(box[:2], others[:, :2])
    high = np.minimum(box[2:], others[:, 2:])
    shared = (high - low).clip(min=0).prod(axis=1)
    area = (box[2:] - box[:2]).prod() + (others[:, 2:] - others[:, :2]).prod(axis=1) - shared
    return np.asarray(shared / np.maximum(area, 1e-9))
