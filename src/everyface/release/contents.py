"""Every file of a release, read once: its bytes, its container, its pixels, the count."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from PIL import Image

from everyface.release.breach import Breach
from everyface.release.certificate import IMAGES, README, Certificate, FileEntry
from everyface.release.claims import created_day
from everyface.release.container import shape_of
from everyface.release.reading import UnreadableError, read_plain
from everyface.release.recount import recount
from everyface.release.shape import UncleanError
from everyface.release.tree import images_breaches, stamp_breaches

TEXT = bytes([10, *range(32, 127)])
"""What the note may be made of: printable ASCII and new lines."""


def contents(root: Path, certificate: Certificate) -> Iterator[Breach]:
    """Check every file, and count anew from what was read."""
    yield from images_breaches(root, certificate)
    day = created_day(certificate)
    if day is not None:
        yield from stamp_breaches(root, day)
    yield from _note(root, certificate)
    found: dict[str, str] = {}
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        checked = pool.map(lambda entry: _image(root, entry), certificate.files)
        for entry, (digest, breaches) in zip(certificate.files, checked, strict=True):
            yield from breaches
            if digest is not None:
                found[entry.name] = digest
    yield from recount(certificate, found)


def _note(root: Path, certificate: Certificate) -> Iterator[Breach]:
    """Check the note for the receiver: plain text, so that no screen shows anything else."""
    data, _, breaches = _certified(
        root, README, certificate.readme.bytes, certificate.readme.sha256
    )
    yield from breaches
    if data is not None and data.translate(None, TEXT):
        yield Breach("format", f"{README} is not plain text")


def _image(root: Path, entry: FileEntry) -> tuple[str | None, list[Breach]]:
    """Check one image and return the digest of what was really read."""
    name = f"{IMAGES}/{entry.name}"
    data, digest, breaches = _certified(root, name, entry.bytes, entry.sha256)
    if data is not None:
        breaches += _picture(data, name, entry)
    return digest, breaches


def _certified(
    root: Path, name: str, size: int, sha256: str
) -> tuple[bytes | None, str | None, list[Breach]]:
    """Read a file and hold it against its size and digest; what is missing is told elsewhere."""
    path = root / name
    if path.parent.is_symlink() or path.is_symlink() or not path.is_file():
        return None, None, []
    try:
        data = read_plain(path, size)
    except UnreadableError:
        return None, None, [Breach("size", f"{name} has more than {size} bytes")]
    except OSError as error:
        return None, None, [Breach("unreadable", f"{name} cannot be read ({error.strerror})")]
    breaches = []
    digest = hashlib.sha256(data).hexdigest()
    if len(data) != size:
        breaches.append(Breach("size", f"{name} has {len(data)} bytes, not {size}"))
    if digest != sha256:
        breaches.append(Breach("hash", f"{name} is not the file that was certified"))
    return data, digest, breaches


def _picture(data: bytes, name: str, entry: FileEntry) -> Iterator[Breach]:
    try:
        shape = shape_of(data)
    except UncleanError as error:
        yield Breach(error.code, f"{name}: {error}")
        return
    if not entry.name.endswith(shape.suffix):
        yield Breach("format", f"{name} is not what its ending says")
    if (shape.width, shape.height) != (entry.width, entry.height):
        yield Breach(
            "dimensions",
            f"{name} is {shape.width} x {shape.height}, not {entry.width} x {entry.height}",
        )
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as picture:
            picture.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        yield Breach("damaged", f"{name} cannot be decoded ({error})")
