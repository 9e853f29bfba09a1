"""``everyface doctor``: is this machine fit, and if not, what is to be done."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

import everyface
from everyface.cli.models import megabytes
from everyface.cli.options import Json, takes
from everyface.cli.output import output
from everyface.errors import EveryfaceError

GOOD, NOTE, BAD = "good", "note", "bad"

_EXTRAS = {
    "torch": (
        "torch",
        "networks can be trained, and FaceNet attacks too once it was pulled",
        "pip install 'everyface[torch]'",
    ),
}
_PROBE = "random-face"
"""A small question to the package index: which versions of this carrier does it have."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    about: str
    verdict: str
    says: str
    todo: str = ""


@dataclass(frozen=True, kw_only=True)
class Doctor:
    """What can be said on the command line."""

    as_json: Json = False


@takes(Doctor)
def doctor(options: Doctor) -> None:
    """Look at this machine, and say in plain words whether Everyface can work here."""
    with output(options.as_json) as out:
        findings = [finding for look in LOOKS for finding in _findings(look)]
        bad = [finding for finding in findings if finding.verdict == BAD]
        out.document({"fit": not bad, "version": everyface.__version__, "findings": findings})
        out.table(["", "WHAT", "FOUND"], [[f.verdict, f.about, _said(f)] for f in findings])
        out.say("", _verdict(len(bad)))
    if bad:
        raise typer.Exit(1)


def _findings(look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Look; where the system refuses to let us, that is a finding too."""
    try:
        yield from look()
    except OSError as error:
        yield Finding(look.__name__, BAD, f"cannot be looked at ({error.strerror or error})")


def _said(finding: Finding) -> str:
    return f"{finding.says} → {finding.todo}" if finding.todo else finding.says


def _verdict(bad: int) -> str:
    if not bad:
        return "This machine is fit."
    things = "1 thing" if bad == 1 else f"{bad} things"
    return f"This machine is not fit yet: mend the {things} marked bad."


def machine() -> Iterator[Finding]:
    """Look at Python, cores and memory."""
    yield Finding("python", GOOD, f"{platform.python_version()} ({sys.executable})")
    cores = os.cpu_count() or 1
    yield Finding(
        "cores", GOOD if cores > 1 else NOTE, str(cores), "" if cores > 1 else "works, but slowly"
    )
    memory = _memory()
    if memory is None:
        yield Finding("memory", NOTE, "unknown on this system")
    else:
        enough = memory >= 3.5e9
        todo = "" if enough else "4 GB are recommended; close other programs"
        yield Finding("memory", GOOD if enough else NOTE, f"{memory / 1e9:.1f} GB", todo)


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def cache() -> Iterator[Finding]:
    """Look at the folder that networks are kept in, and the disk under it."""
    from everyface.models import store

    folder = store.cache_folder()
    move = f"set {store.CACHE} to a folder that you may write to"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        yield Finding("cache", BAD, f"{folder} cannot be written ({error.strerror})", move)
    else:
        yield Finding("cache", GOOD, str(folder))
    free = shutil.disk_usage(_standing(folder)).free
    enough = free >= 2e9
    todo = "" if enough else "free at least 2 GB, or move the cache with " + store.CACHE
    yield Finding("disk", GOOD if enough else BAD, f"{free / 1e9:.1f} GB free", todo)


def _standing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())


def models() -> Iterator[Finding]:
    """Look at every network, and at the package index if any is missing."""
    from everyface.models import registry, store

    states = {entry.name: store.status(entry.name).state for entry in registry.entries()}
    for entry in registry.entries():
        state = states[entry.name]
        if state is store.State.PRESENT:
            yield Finding(f"model {entry.name}", GOOD, "present and whole")
        elif state is store.State.ABSENT:
            says = f"absent ({megabytes(entry.bytes)}); fetched when needed"
            yield Finding(f"model {entry.name}", NOTE, says)
        else:
            todo = f"run: everyface models pull {entry.name}"
            yield Finding(f"model {entry.name}", BAD, "damaged", todo)
    if all(state is store.State.PRESENT for state in states.values()):
        yield Finding("package index", GOOD, "not needed: every model is here")
    else:
        yield _index()


def _index() -> Finding:
    """Ask the index that this Python's pip is configured for."""
    command = [sys.executable, "-m", "pip", "index", "versions", _PROBE, "--no-input"]
    command += ["--disable-pip-version-check", "--timeout", "10", "--retries", "0"]
    todo = "check the network and pip's configuration, or: everyface models pull --from DIR"
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return Finding("package index", BAD, "no answer", todo)
    if asked.returncode == 0:
        return Finding("package index", GOOD, "reached")
    if "No module named pip" in asked.stderr:
        return Finding("package index", BAD, "this Python has no pip", "install pip")
    return Finding("package index", BAD, "not reached, or without the packages needed", todo)


def extras() -> Iterator[Finding]:
    """Look at what is optional."""
    for name, (module, gives, how) in _EXTRAS.items():
        if importlib.util.find_spec(module) is None:
            yield Finding(f"extra {name}", NOTE, f"not installed; with it {gives}", how)
        else:
            yield Finding(f"extra {name}", GOOD, f"installed: {gives}")


def signing() -> Iterator[Finding]:
    """Look at the key that releases are signed with, without making one."""
    from everyface.release.signer import PRIVATE, Signer, key_folder

    where = key_folder() / PRIVATE
    if not where.exists():
        yield Finding("signing key", GOOD, f"will be made in {key_folder()} on first use")
        return
    try:
        yield Finding("signing key", GOOD, f"fingerprint {Signer.load().fingerprint}")
    except EveryfaceError as error:
        yield Finding("signing key", BAD, error.what, error.todo)


LOOKS: tuple[Callable[[], Iterator[Finding]], ...] = (machine, cache, models, extras, signing)
"""Everything that is looked at, in this order."""
