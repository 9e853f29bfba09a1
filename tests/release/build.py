"""Small releases of noise, and ways to write and sign them anew as an attacker would."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from everyface.arrays import U8
from everyface.guarantee import Guarantee, Level
from everyface.release import Draft, Item, Settings, Signer, write
from everyface.release.certificate import CERTIFICATE, IMAGES, SIGNATURE, canonical

K = 3
PEOPLE = 7
PHOTOS = 2
STAMP = 1_790_000_000
DAY = STAMP - STAMP % 86400
SEED = 20261119
MODEL = {"name": "sface", "sha256": "0b" * 32, "licence": "Apache-2.0"}
GATE = {
    "bound": 1 / K,
    "attacks": [
        {"recogniser": "sface", "against": "another photo", "people": 7, "found": 1},
        {"recogniser": "dlib", "against": "another photo", "people": 7, "found": 2},
    ],
    "rounds": [{"changed": 2, "rank1": {"sface": 0.28, "dlib": 0.42}}],
    "price": {"information loss": 0.12},
}


def signer(number: int = 1) -> Signer:
    return Signer(Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32))


PUBLISHER = signer(1)
ATTACKER = signer(66)


def settings(**changes: Any) -> Settings:
    base = Settings(seed=SEED, stamp=STAMP, signer=PUBLISHER, private=None)
    return replace(base, **changes)


def originals(folder: Path) -> list[Path]:
    """Two photos each of seven people; only their names matter."""
    paths = []
    for person in range(PEOPLE):
        for photo in range(PHOTOS):
            path = folder / f"anna_{person}" / f"portrait_{photo}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_bytes(f"the original {person} {photo}".encode())
            paths.append(path)
    return paths


def group_of(person: int) -> int:
    return 0 if person < 4 else 1


def draft(folder: Path, form: str = "faces", **changes: Any) -> Draft:
    items = []
    for index, path in enumerate(originals(folder)):
        person = index // PHOTOS
        items.append(Item(path, (person,), (group_of(person),)))
    level = Level.K_ANONYMOUS if form == "faces" else Level.MEASURED
    reasons = () if form == "faces" else ("merged into the photo",)
    base = Draft(
        form=form,  # type: ignore[arg-type]
        k=K,
        recipe={"name": "k-same-pixel", "surrogate": {"rule": "mean"}, "levels": [1, 0.5]},
        guarantee=Guarantee(level, reasons),
        items=items,
        models=[MODEL],
        notes={"single-member groups": 0.0},
        made_of={} if form == "faces" else {0: 4, 1: 3},
        background=None if form == "faces" else "keep",
        carried_over=() if form == "faces" else ("hair and clothes",),
    )
    return replace(base, **changes)


def noise(index: int, size: tuple[int, int] = (24, 20)) -> U8:
    rng = np.random.default_rng(index)
    coarse = rng.integers(0, 256, (4, 4, 3), dtype=np.uint8)
    rows = np.arange(size[0]) * 4 // size[0]
    columns = np.arange(size[1]) * 4 // size[1]
    return np.ascontiguousarray(coarse[rows][:, columns])


def renderer(plan: Draft) -> Callable[[int], U8]:
    """One picture a group in the faces form, one a file in the photos form."""

    def render(index: int) -> U8:
        if plan.form == "faces":
            return noise(plan.items[index].groups[0])
        return noise(100 + index, (30 + index, 40))

    return render


def make(folder: Path, form: str = "faces", **changes: Any) -> Path:
    return release(draft(folder / "in", form, **changes), folder / "out")


def release(plan: Draft, out: Path, **changes: Any) -> Path:
    return write(plan, out, renderer(plan), settings=settings(**changes), audit=lambda paths: GATE)


def snapshot(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Every file's bytes, time and mode; folders count too."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        state = path.stat()
        data = b"" if path.is_dir() else path.read_bytes()
        found[str(path.relative_to(folder))] = (data, int(state.st_mtime), state.st_mode)
    return found


def images(release: Path) -> list[Path]:
    return sorted((release / IMAGES).iterdir())


def certificate(release: Path) -> dict[str, Any]:
    return dict(json.loads((release / CERTIFICATE).read_bytes()))


def entry(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    return next(found for found in data["files"] if found["name"] == name)


def sign(release: Path, raw: bytes, by: Signer) -> None:
    (release / CERTIFICATE).write_bytes(raw)
    data = {"algorithm": "Ed25519", "public_key": by.public_key, "signature": by.sign(raw)}
    (release / SIGNATURE).write_bytes(canonical(data))
    stamp(release)


def resign(release: Path, data: Mapping[str, Any], by: Signer = PUBLISHER) -> None:
    """Sign a changed certificate: by the publisher himself unless told otherwise."""
    sign(release, canonical(data), by)


def recertify(release: Path, path: Path, by: Signer = PUBLISHER) -> None:
    """Enter a changed image's size and digest, and sign."""
    data = certificate(release)
    raw = path.read_bytes()
    changed = {"sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}
    entry(data, path.name).update(changed)
    resign(release, data, by)


def stamp(release: Path) -> None:
    """Hide every trace in the time stamps."""
    for path in [*release.rglob("*"), release]:
        os.utime(path, (DAY, DAY), follow_symlinks=False)
