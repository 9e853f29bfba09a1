"""Images are written beside the release and journalled, so that a killed run loses nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from everyface.arrays import U8
from everyface.errors import InputError
from everyface.files import sha256, write_bytes, writing
from everyface.progress import Tick
from everyface.release.certificate import IMAGES
from everyface.release.container import shape_of
from everyface.release.draft import Draft
from everyface.release.encode import encode
from everyface.release.names import Names
from everyface.release.shape import UncleanError

Render = Callable[[int], U8]
WORKERS = min(4, os.cpu_count() or 1)


@dataclass(frozen=True)
class Staged:
    """An image as it lies in the stage."""

    name: str
    sha256: str
    bytes: int
    width: int
    height: int


class Journal:
    """One line a finished image; only the lines of the very same draft and seed are believed."""

    def __init__(self, path: Path, draft: Draft, names: Names) -> None:
        self.path = path
        self.identity = names.draw(_identity(draft), 64)
        self.done: dict[str, Staged] = {}

    def resume(self, stage: Path) -> None:
        """Read what an earlier run finished, or start from nothing if it made something else."""
        lines = self._lines()
        if not lines or lines[0] != {"draft": self.identity}:
            with writing(stage):
                shutil.rmtree(stage, ignore_errors=True)
                stage.mkdir(parents=True, mode=0o700)
            write_bytes(self.path, json.dumps({"draft": self.identity}).encode() + b"\n")
            return
        for path in (stage / IMAGES).glob(".*"):
            path.unlink()
        for line in lines[1:]:
            entry = Staged(**line)
            self.done[entry.name] = entry

    def add(self, entry: Staged) -> None:
        """Record an image that now lies in the stage."""
        self.done[entry.name] = entry
        with writing(self.path), self.path.open("ab") as file:
            file.write(json.dumps(asdict(entry)).encode() + b"\n")

    def holds(self, path: Path) -> bool:
        """Say whether `path` is finished and still what was recorded."""
        entry = self.done.get(path.name)
        return entry is not None and path.is_file() and sha256(path) == entry.sha256

    def _lines(self) -> list[dict[str, Any]]:
        """Return the whole lines; the last may be cut where the run was killed."""
        try:
            text = self.path.read_bytes()
        except OSError:
            return []
        lines = []
        for line in text.split(b"\n"):
            try:
                lines.append(json.loads(line))
            except ValueError:
                continue
        return [line for line in lines if isinstance(line, dict)]


def _identity(draft: Draft) -> str:
    """Return everything that decides the release's bytes, the originals' state included."""
    states = []
    for path in draft.sources:
        try:
            found = path.stat()
            states.append([found.st_size, found.st_mtime_ns])
        except OSError:
            states.append([])
    return json.dumps([repr(draft), states])


def stage_images(
    draft: Draft, stage: Path, render: Render, names: Names, journal: Journal, tick: Tick
) -> list[Staged]:
    """Render what is not there yet and return every image, in the order of the items.

    The images of a k-anonymous group are encoded once and copied, so that they are the same
    bytes by construction. Encoding runs beside rendering; only a handful of images are in memory.
    """
    files = [stage / IMAGES / name for name in names.files(draft)]
    bench = _Bench(journal, tick, len(files))
    first = _first_of_group(draft)
    with ThreadPoolExecutor(WORKERS) as pool:
        for index, path in enumerate(files):
            if journal.holds(path):
                bench.put(_finished(journal.done[path.name]))
            elif first[index] == index:
                bench.put(pool.submit(_write, render(index), path))
        bench.clear()
        for index, path in enumerate(files):
            if path.name not in bench.settled:
                bench.put(pool.submit(_copy, files[first[index]], path))
        bench.clear()
    return [bench.settled[path.name] for path in files]


class _Bench:
    """The handful of images that are being encoded, settled in the order they came."""

    def __init__(self, journal: Journal, tick: Tick, total: int) -> None:
        self.journal, self.tick, self.total = journal, tick, total
        self.pending: deque[Future[Staged]] = deque()
        self.settled: dict[str, Staged] = {}

    def put(self, future: Future[Staged]) -> None:
        self.pending.append(future)
        while len(self.pending) > 2 * WORKERS:
            self._settle()

    def clear(self) -> None:
        while self.pending:
            self._settle()

    def _settle(self) -> None:
        entry = self.pending.popleft().result()
        if self.journal.done.get(entry.name) != entry:
            self.journal.add(entry)
        self.settled[entry.name] = entry
        self.tick("writing", len(self.settled), self.total)


def _first_of_group(draft: Draft) -> list[int]:
    """Return, for each item, the one whose bytes it takes: itself, or its group's first."""
    if not draft.identical:
        return list(range(len(draft.items)))
    first: dict[int, int] = {}
    return [first.setdefault(item.groups[0], index) for index, item in enumerate(draft.items)]


def _finished(entry: Staged) -> Future[Staged]:
    future: Future[Staged] = Future()
    future.set_result(entry)
    return future


def _write(image: U8, path: Path) -> Staged:
    return _put(encode(image, path.suffix), path)


def _copy(source: Path, path: Path) -> Staged:
    return _put(source.read_bytes(), path)


def _put(data: bytes, path: Path) -> Staged:
    """Write an image that was looked at once more, byte by byte."""
    try:
        shape = shape_of(data)
    except UncleanError as error:
        raise InputError(f"an image was encoded with more than its pixels: {error}") from error
    write_bytes(path, data)
    digest = hashlib.sha256(data).hexdigest()
    return Staged(path.name, digest, len(data), shape.width, shape.height)
