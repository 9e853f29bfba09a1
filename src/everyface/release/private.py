"""What only the owner may have: the key map and the originals that were refused."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from everyface.errors import InputError, OutputError
from everyface.files import write_bytes, writing

PLAIN = "key_map.json"
LOCKED = "key_map.enc"
QUARANTINE = "quarantine"
COST = 2**16


def write_private(
    folder: Path,
    key_map: Mapping[str, Any],
    refused: Sequence[tuple[Path, str]],
    passphrase: str | None,
) -> None:
    """Write the private folder: all of it, or nothing under its final name.

    A folder that belongs to another release is never touched; one of the same release (a run
    that was killed between its two last steps) is replaced.
    """
    require_free(folder, key_map["release"])
    part = folder.with_name(f".{folder.name}.part")
    with writing(part):
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True, mode=0o700)
    text = json.dumps(key_map, indent=2, sort_keys=True).encode()
    if passphrase is None:
        write_bytes(part / PLAIN, text, private=True)
    else:
        write_bytes(part / LOCKED, _locked(text, key_map["release"], passphrase), private=True)
    if refused:
        _quarantine(part / QUARANTINE, refused)
    with writing(folder):
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)


def require_free(folder: Path, release: str) -> None:
    """Refuse a folder that holds anything but this release's own key map."""
    if not folder.exists() and not folder.is_symlink():
        return
    try:
        names = sorted(path.name for path in folder.iterdir())
        if not names:
            return
        if set(names) <= {PLAIN, LOCKED, QUARANTINE} and _release_of(folder) == release:
            return
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise OutputError(
        f"{folder} already exists and is not of this release",
        "move it away: it may hold the only key map of another release",
    )


def read_key_map(path: Path, passphrase: str | None = None) -> dict[str, Any]:
    """Read a key map back.

    Parameters
    ----------
    path
        The private folder, or the file in it.
    passphrase
        Needed where the map is encrypted.
    """
    if path.is_dir():
        path = path / (LOCKED if (path / LOCKED).exists() else PLAIN)
    try:
        data = json.loads(path.read_bytes())
        if path.name != LOCKED:
            return dict(data)
        if passphrase is None:
            raise InputError(f"{path} is encrypted", "give its passphrase")
        return dict(json.loads(_unlocked(data, passphrase)))
    except InvalidTag as error:
        raise InputError(
            f"{path} does not open", "the passphrase is wrong, or the file is damaged"
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"the key map {path} cannot be read", "give the private folder") from error


def _release_of(folder: Path) -> str:
    path = folder / (LOCKED if (folder / LOCKED).exists() else PLAIN)
    return str(json.loads(path.read_bytes())["release"])


def _derived(passphrase: str, salt: bytes) -> bytes:
    return Scrypt(salt=salt, length=32, n=COST, r=8, p=1).derive(passphrase.encode())


def _locked(text: bytes, release: str, passphrase: str) -> bytes:
    """Encrypt with AES-256-GCM under a key from scrypt; the release's name is authenticated too."""
    salt, nonce = os.urandom(16), os.urandom(12)
    sealed = AESGCM(_derived(passphrase, salt)).encrypt(nonce, text, release.encode())
    packed = {
        "release": release,
        "cipher": f"scrypt-{COST}-8-1 AES-256-GCM",
        "salt": base64.b64encode(salt).decode(),
        "nonce": base64.b64encode(nonce).decode(),
        "sealed": base64.b64encode(sealed).decode(),
    }
    return json.dumps(packed, indent=2).encode()


def _unlocked(packed: Mapping[str, str], passphrase: str) -> bytes:
    salt, nonce, sealed = (base64.b64decode(packed[key]) for key in ("salt", "nonce", "sealed"))
    return AESGCM(_derived(passphrase, salt)).decrypt(nonce, sealed, packed["release"].encode())


def _quarantine(folder: Path, refused: Sequence[tuple[Path, str]]) -> None:
    """Copy refused originals where their owner finds them, with the reasons in a table."""
    with writing(folder):
        folder.mkdir(mode=0o700)
    table = io.StringIO()
    rows = csv.writer(table)
    rows.writerow(["file", "original", "reason"])
    for number, (source, reason) in enumerate(refused, start=1):
        name = f"{number:05d}_{source.name}"
        rows.writerow([name if _copied(source, folder / name) else "", str(source), reason])
    write_bytes(folder / "reasons.csv", table.getvalue().encode(), private=True)


def _copied(source: Path, target: Path) -> bool:
    """Copy for the owner alone; a photo that cannot be read is only named in the table."""
    try:
        opened = source.open("rb")
    except OSError:
        return False
    with opened, writing(target):
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as out:
            shutil.copyfileobj(opened, out)
    return True
