"""From paths to a `FaceSet`: in shards, on all cores, resumable, in memory that does not grow."""

from __future__ import annotations

import atexit
import hashlib
import io
import os
import shutil
import tempfile
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from everyface.arrays import F32, U8, AnyArray
from everyface.errors import InputError, PhotoError
from everyface.faces.align import FACE, apply, crop, face_transform
from everyface.faces.attributes import labels
from everyface.faces.faceset import GIVEN, POINTS, Crops, FaceSet, Refusal
from everyface.faces.finding import Found, find
from everyface.faces.landmarks import pose
from everyface.faces.naming import Naming, naming
from everyface.faces.photo import find_photos, read_photo
from everyface.faces.quality import quality
from everyface.faces.subjects import Rows, assign
from everyface.files import write_bytes, writing
from everyface.progress import Tick, silent

SHARD = 32
"""Photos whose results are written together: what a killed run loses at most."""

UNKNOWN = "unknown"
"""The value of a label of the user's table for people of whom it says nothing."""

_BATCH_PIXELS = 24_000_000
_BATCH_PHOTOS = 8
_AHEAD = 4
CROPS = "crops.u8"
_TABLES = "[0-9]*-*.npz"
_ROW = FACE * FACE * 3


def read(
    paths: Iterable[str | Path] | str | Path,
    subjects: str = "each",
    *,
    tick: Tick = silent,
    store: Path | None = None,
) -> FaceSet:
    """Find every face in photos and say who it is.

    Parameters
    ----------
    paths
        Photos and folders of photos.
    subjects
        Who is who: ``each``, ``folder``, ``pattern:…``, ``csv:FILE`` or ``auto`` (see
        `everyface.faces.naming.naming`).
    tick
        Hears how far the work is.
    store
        A folder for what is found. A run that was killed goes on from there, to the same
        result. It holds the faces as they are: keep it as safe as the photos, and delete it when
        done. Without it a temporary folder is used and removed when the program ends.

    Returns
    -------
    FaceSet
        One row a face, sorted by photo and then from left to right. Photos that cannot be read,
        show no face, or may show one that was not made out are in `refused` and have no rows.

    Raises
    ------
    InputError
        Nothing that was given can be used.

    Examples
    --------
    >>> import everyface as ef
    >>> faces = ef.read("photos", subjects="folder")
    >>> len(faces.photos), len(faces), faces.n_subjects
    (24, 24, 12)
    >>> faces.subjects[faces.subject[0]], faces.labels["gender"][0] in ("female", "male")
    ('person_001', True)
    >>> [refusal.reason for refusal in faces.refused]
    []
    """
    photos = find_photos(paths)
    said = naming(subjects, photos)
    folder = _temporary() if store is None else store
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    parts = _Shards(folder, photos).complete(tick)
    table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    crops = _mapped(folder, len(table["photo"]))
    reasons = {i: str(text) for i, text in enumerate(table.pop("refusal")) if text}
    reasons = {**said.unknown, **reasons}
    faces = _without_refused(_faceset(photos, table, crops, reasons), reasons)
    known = Rows(faces.photo, _sizes(faces.points), lambda wanted: _embedded(faces, wanted))
    subject, names = assign(said, photos, known)
    named = replace(faces, subject=subject, subjects=names)
    return named.with_labels(**_given(said, named))


def _faceset(
    photos: list[Path], table: dict[str, AnyArray], crops: U8, reasons: dict[int, str]
) -> FaceSet:
    fields: dict[str, Any] = {
        name: table[name]
        for name in ("sizes", "photo", "box", "points", "pose", "score", "quality")
    }
    return FaceSet(
        photos=tuple(photos),
        subject=np.zeros(len(table["photo"]), np.int32),
        subjects=(),
        crops=Crops(crops),
        labels={name: column for name, column in table.items() if name not in fields},
        refused=tuple(Refusal(i, reasons[i]) for i in sorted(reasons)),
        **fields,
    )


def _given(said: Naming, faces: FaceSet) -> dict[str, AnyArray]:
    """Return the labels of the user's table, a value a row.

    Where the table says nothing of a person in a photo, it is what it says of them most often
    elsewhere, else ``unknown``.
    """
    found: dict[str, AnyArray] = {}
    for label, values in said.labels.items():
        often: dict[str, Counter[str]] = {}
        for (_, person), value in sorted(values.items()):
            often.setdefault(person, Counter())[value] += 1
        usual = {person: counted.most_common(1)[0][0] for person, counted in often.items()}
        rows = zip(faces.photo.tolist(), (faces.subjects[s] for s in faces.subject), strict=True)
        column = [values.get((n, who), usual.get(who, UNKNOWN)) for n, who in rows]
        found[f"{GIVEN}{label}" if label in faces.labels else label] = np.array(column)
    return found


def _without_refused(faces: FaceSet, reasons: dict[int, str]) -> FaceSet:
    rows = np.flatnonzero(~np.isin(faces.photo, list(reasons)))
    if not len(rows):
        raise InputError(
            f"none of the {len(faces.photos)} photos can be used: {_first(faces.photos, reasons)}",
            "give photos that show faces clearly",
        )
    return faces if len(rows) == len(faces) else faces.take(rows)


def _first(photos: Sequence[Path], reasons: dict[int, str]) -> str:
    number = min(reasons)
    return f"{photos[number].name}: {reasons[number]}"


def _sizes(points: F32) -> F32:
    return np.asarray(np.ptp(points[..., :2], axis=1).max(axis=1))


def _embedded(faces: FaceSet, rows: AnyArray) -> F32:
    """Embed some rows, or all of them once and for all."""
    from everyface.faces.identity import embedded

    if len(rows) == len(faces):
        return embedded(faces, "sface")[rows]
    return embedded(faces.take(rows), "sface")


def _temporary() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="everyface-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _mapped(folder: Path, rows: int) -> U8:
    shape = (rows, FACE, FACE, 3)
    if not rows:
        return np.zeros(shape, np.uint8)
    return np.memmap(folder / CROPS, np.uint8, "r", shape=shape)


@dataclass(frozen=True)
class _Shards:
    """The photos in blocks: each block's table is a file, all crops are one file.

    The crops of a block are appended before its table appears under its final name, so a table that
    stands there has its crops. A run that goes on keeps the tables that fit, from the first on,
    removes the others, since the crops they vouch for are about to be cut off, and cuts those off.
    """

    folder: Path
    photos: list[Path]

    def complete(self, tick: Tick) -> list[dict[str, AnyArray]]:
        """Return every block's table, making those that are missing."""
        starts = range(0, len(self.photos), SHARD)
        parts: list[dict[str, AnyArray]] = []
        for start in starts:
            part = self._kept(start)
            if part is None:
                break
            parts.append(part)
        rows = sum(len(part["photo"]) for part in parts)
        path = self.folder / CROPS
        with writing(path):
            path.touch()
            if path.stat().st_size < rows * _ROW:
                parts, rows = [], 0
            kept = [self._file(start) for start in starts[: len(parts)]]
            for table in set(self.folder.glob(_TABLES)).difference(kept):
                table.unlink()
            os.truncate(path, rows * _ROW)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            done = min(len(parts) * SHARD, len(self.photos))
            source = _ahead(pool, self.photos[done:])
            for start in starts[len(parts) :]:
                parts.append(self._made(start, source, tick))
        tick("reading", len(self.photos), len(self.photos))
        return parts

    def _block(self, start: int) -> list[Path]:
        return self.photos[start : start + SHARD]

    def _file(self, start: int) -> Path:
        key = hashlib.sha256(f"{version('everyface')} {FACE}".encode())
        for path in self._block(start):
            try:
                state = path.stat()
                key.update(f"\n{path.absolute()} {state.st_size} {state.st_mtime_ns}".encode())
            except OSError:
                key.update(f"\n{path.absolute()} missing".encode())
        return self.folder / f"{start // SHARD:06d}-{key.hexdigest()[:24]}.npz"

    def _kept(self, start: int) -> dict[str, AnyArray] | None:
        path = self._file(start)
        if not path.is_file():
            return None
        with np.load(path, allow_pickle=False) as held:
            return dict(held)

    def _made(
        self, start: int, source: Iterator[U8 | PhotoError], tick: Tick
    ) -> dict[str, AnyArray]:
        """Read one block of photos, append its crops, write its table."""
        pieces = []
        path = self.folder / CROPS
        with writing(path), path.open("ab") as file:
            for first, block in _batches(self._block(start), source):
                tick("reading", start + first, len(self.photos))
                piece, crops = _examined(block, start + first)
                file.write(crops.tobytes())
                pieces.append(piece)
            file.flush()
            os.fsync(file.fileno())
        part = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
        held = io.BytesIO()
        np.savez(held, allow_pickle=False, **part)
        write_bytes(self._file(start), held.getvalue())
        return part


def _ahead(pool: ThreadPoolExecutor, photos: Sequence[Path]) -> Iterator[U8 | PhotoError]:
    """Decode photos in order, a few of them before they are asked for."""
    waiting: deque[Future[U8 | PhotoError]] = deque()
    for path in photos:
        waiting.append(pool.submit(_opened, path))
        if len(waiting) > _AHEAD:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _opened(path: Path) -> U8 | PhotoError:
    try:
        return read_photo(path)
    except PhotoError as error:
        return error


def _batches(
    block: list[Path], source: Iterator[U8 | PhotoError]
) -> Iterator[tuple[int, list[U8 | PhotoError]]]:
    """Group a block's photos so that few are in memory at once."""
    batch: list[U8 | PhotoError] = []
    pixels = first = 0
    for number in range(len(block)):
        photo = next(source)
        batch.append(photo)
        pixels += 0 if isinstance(photo, PhotoError) else photo.size // 3
        if pixels > _BATCH_PIXELS or len(batch) == _BATCH_PHOTOS or number == len(block) - 1:
            yield first, batch
            first, batch, pixels = number + 1, [], 0


def _examined(batch: list[U8 | PhotoError], first: int) -> tuple[dict[str, AnyArray], U8]:
    """Return the table of a few photos, and the crops of its rows."""
    good = [photo for photo in batch if not isinstance(photo, PhotoError)]
    faces = iter(find(good))
    found = [None if isinstance(photo, PhotoError) else next(faces) for photo in batch]
    crops: list[U8] = []
    rows: list[tuple[int, Found]] = []
    for number, (photo, one) in enumerate(zip(batch, found, strict=True)):
        if one is None or isinstance(photo, PhotoError):
            continue
        rows.append((first + number, one))
        crops += [crop(photo, matrix) for matrix in face_transform(one.points)]
    held = np.stack(crops) if crops else np.zeros((0, FACE, FACE, 3), np.uint8)
    table = _table(rows, held)
    table["sizes"] = np.array([_size(photo) for photo in batch], np.int32).reshape(-1, 2)
    table["refusal"] = np.array(
        [
            photo.what if isinstance(photo, PhotoError) else one.refusal if one else ""
            for photo, one in zip(batch, found, strict=True)
        ]
    )
    return table, held


def _size(photo: U8 | PhotoError) -> tuple[int, int]:
    return (0, 0) if isinstance(photo, PhotoError) else (photo.shape[1], photo.shape[0])


def _table(found: list[tuple[int, Found]], crops: U8) -> dict[str, AnyArray]:
    """Bring what was found in a few photos to columns, and measure it."""
    counts = [len(one.score) for _, one in found]
    none = np.zeros(0, np.float32)
    nothing = Found(none.reshape(0, 4), none.reshape(0, POINTS, 3), none, none)
    every = [nothing, *(one for _, one in found)]
    points = np.concatenate([one.points for one in every])
    score = np.concatenate([one.score for one in every])
    presence = np.concatenate([one.presence for one in every])
    inside = apply(face_transform(points), points)
    turned = pose(points)
    return {
        "photo": np.repeat(np.array([n for n, _ in found], np.int32), counts),
        "box": np.concatenate([one.box for one in every]),
        "points": points,
        "pose": turned,
        "score": score,
        "quality": quality(crops, inside, points, turned, np.minimum(score, presence)),
        **labels(crops, inside),
    }
