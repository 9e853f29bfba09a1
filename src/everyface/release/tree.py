"""The files of a release as they lie on the disk: exactly those that it must have."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from everyface.release.breach import Breach
from everyface.release.certificate import CERTIFICATE, IMAGES, README, SIGNATURE, Certificate

TOP = {CERTIFICATE: False, SIGNATURE: False, README: False, IMAGES: True}
"""Name → whether it is a folder."""


def tree_breaches(root: Path) -> Iterator[Breach]:
    """Check the top: four names of the right kind, and nothing else."""
    for name in TOP:
        if not os.path.lexists(root / name):
            yield Breach("missing-file", f"{name} is missing")
    for entry in sorted(os.scandir(root), key=lambda found: found.name):
        if entry.name not in TOP:
            yield Breach("extra-file", f"{entry.name!r} does not belong here")
        else:
            yield from _odd(entry, entry.name, folder=TOP[entry.name])


def images_breaches(root: Path, certificate: Certificate) -> Iterator[Breach]:
    """Check the images: those of the certificate, plain files all, and nothing else."""
    folder = root / IMAGES
    if not folder.is_dir() or folder.is_symlink():
        return
    listed = {entry.name for entry in certificate.files}
    found = set()
    for entry in sorted(os.scandir(folder), key=lambda item: item.name):
        found.add(entry.name)
        if entry.name not in listed:
            yield Breach("extra-file", f"{IMAGES}/{entry.name} is not in the certificate")
        else:
            yield from _odd(entry, f"{IMAGES}/{entry.name}", folder=False)
    for name in sorted(listed - found):
        yield Breach("missing-file", f"{IMAGES}/{name} is missing")


def stamp_breaches(root: Path, day: int) -> Iterator[Breach]:
    """Check that one time stamp stands on everything.

    A copy that stamped every file anew says nothing about the originals and is accepted; one
    odd file among stamped ones was touched.
    """
    paths = [root, *sorted(root.rglob("*"))]
    odd = [path for path in paths if int(path.lstat().st_mtime) != day]
    if copied(root, day):
        return
    for path in odd:
        yield Breach("time-stamp", f"{path.relative_to(root)} has a time stamp of its own")


def copied(root: Path, day: int) -> bool:
    """Say whether no file carries the release's stamp any more."""
    return not any(
        int(path.lstat().st_mtime) == day for path in root.rglob("*") if not path.is_dir()
    )


def _odd(entry: os.DirEntry[str], name: str, *, folder: bool) -> Iterator[Breach]:
    state = entry.stat(follow_symlinks=False)
    if stat.S_ISLNK(state.st_mode):
        yield Breach("symlink", f"{name} is a link")
        return
    if not (stat.S_ISDIR(state.st_mode) if folder else stat.S_ISREG(state.st_mode)):
        yield Breach("not-a-file", f"{name} is not a plain {'folder' if folder else 'file'}")
        return
    if not folder and state.st_nlink > 1:
        yield Breach("hard-link", f"{name} is a second name of a file elsewhere")
    yield from _attributes(Path(entry.path), name)


def _attributes(path: Path, name: str) -> Iterator[Breach]:
    """Look for text that file systems keep beside a file."""
    if not hasattr(os, "listxattr"):
        return
    try:
        found = os.listxattr(path, follow_symlinks=False)
    except OSError:
        return
    for attribute in found:
        if attribute.startswith("user."):
            yield Breach("attribute", f"{name} carries the extended attribute {attribute!r}")
