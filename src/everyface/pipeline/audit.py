"""The last look: the written files themselves are read, detected and attacked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from everyface.arrays import F32, I64, U8
from everyface.attacks.gate import Verdict
from everyface.attacks.naive import attack
from everyface.faces import read
from everyface.faces.align import apply, crop, crop_points, face_transform
from everyface.faces.faceset import FaceSet
from everyface.faces.photo import read_photo
from everyface.pipeline.walk import Walked
from everyface.progress import Tick, silent

_BLOCK = 32
_SAME = 0.3
"""Least overlap of a found face with where one was put."""


@dataclass(frozen=True)
class Written:
    """A file, and the faces of the walk that stand in it."""

    path: Path
    rows: tuple[int, ...]


def audit(
    walked: Walked, files: Sequence[Written], bound: float, tick: Tick = silent
) -> tuple[list[Verdict], I64, int]:
    """Attack written files as an outsider would.

    Returns
    -------
    verdicts
        One a recogniser.
    rows
        The faces that the verdicts speak of, in their order.
    missed
        How many of them the detector did not find; they are attacked where they were put, so
        that an attacker who knows the place has no better chance.
    """
    embedded: list[list[F32]] = [[] for _ in walked.galleries]
    rows: list[int] = []
    missed = 0
    for start in range(0, len(files), _BLOCK):
        part = files[start : start + _BLOCK]
        crops, points, gone = _seen(walked, part)
        missed += gone
        for held, gallery in zip(embedded, walked.galleries, strict=True):
            held.append(gallery.recogniser.embed(crops, points))
        rows += [row for file in part for row in file.rows]
        tick("checking", min(start + _BLOCK, len(files)), len(files))
    order = np.array(rows, dtype=np.int64)
    verdicts = [
        Verdict(gallery.recogniser.name, attack(gallery, np.concatenate(held), order), bound)
        for gallery, held in zip(walked.galleries, embedded, strict=True)
    ]
    return verdicts, order, missed


def _seen(walked: Walked, part: Sequence[Written]) -> tuple[U8, F32, int]:
    """Read files afresh and find their faces; count those that only we can find."""
    found = read([file.path for file in part], tick=silent)
    meshes = crop_points(found)
    crops: list[U8] = []
    points: list[F32] = []
    missed = 0
    for index, file in enumerate(part):
        for row in file.rows:
            put = walked.stage.placed(row)
            match = _match(found, index, put)
            if match is None:
                missed += 1
                matrix = face_transform(put, found.size)
                crops.append(crop(read_photo(file.path), matrix, found.size))
                points.append(apply(matrix, put))
            else:
                crops.append(found.crops[match])
                points.append(meshes[match])
    return np.stack(crops), np.stack(points), missed


def _match(found: FaceSet, photo: int, put: F32) -> int | None:
    """Return the row of the face found where `put` was put."""
    rows = np.flatnonzero(found.photo == photo)
    if not len(rows):
        return None
    low, high = put[:, :2].min(axis=0), put[:, :2].max(axis=0)
    mesh = found.points[rows, :, :2]
    lows, highs = mesh.min(axis=1), mesh.max(axis=1)
    meet = np.clip(np.minimum(high, highs) - np.maximum(low, lows), 0, None).prod(axis=1)
    whole = (high - low).prod() + (highs - lows).prod(axis=1) - meet
    share = meet / whole
    return int(rows[share.argmax()]) if share.max() >= _SAME else None


def certified(walked: Walked, verdicts: Sequence[Verdict], bound: float) -> dict[str, Any]:
    """Return the gate's account as certificates hold it."""
    findings = walked.findings
    return {
        "bound": round(bound, 6),
        "attacks": [
            {
                "recogniser": verdict.recogniser,
                "against": _against(walked),
                "people": len(verdict.scores.own),
                "found": verdict.scores.rank1().hits,
                "threshold": verdict.scores.threshold,
                "own_above": round(verdict.scores.own_matches().value, 6),
                "strangers_above": round(verdict.scores.stranger_matches(), 6),
            }
            for verdict in verdicts
        ],
        "rounds": [] if findings is None else findings.rounds,
        "price": dict(walked.price),
    }


def _against(walked: Walked) -> str:
    photos = [
        len(np.unique(walked.faces.photo[walked.people.of_row == person]))
        for person in range(len(walked.people))
    ]
    alone = sum(count == 1 for count in photos)
    if alone == len(photos):
        return "the very photos that the faces were made from"
    if alone == 0:
        return "other photos of the same people"
    return f"other photos of the same people, and the very photo for {alone} people with only one"
