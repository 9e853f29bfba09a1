"""The Ed25519 key that signs certificates, and how a stranger checks a signature."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
from pathlib import Path
from typing import Self

import platformdirs
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from everyface.errors import InputError
from everyface.files import write_bytes, writing

PRIVATE = "signing_key.pem"
PUBLIC = "signing_key.pub"
CONTEXT = b"everyface certificate 1\n"
"""Prefix of what is signed, so that a signature means this and nothing else."""


def key_folder() -> Path:
    """Where the keys live: ``EVERYFACE_KEYS`` if set, else the user's configuration folder."""
    moved = os.environ.get("EVERYFACE_KEYS")
    return Path(moved) if moved else Path(platformdirs.user_config_dir("everyface"))


def fingerprint(public_key: str) -> str:
    """Return what people compare by eye: 40 hexadecimal digits in groups of four."""
    digits = hashlib.sha256(bytes.fromhex(public_key)).hexdigest()[:40]
    return " ".join(digits[i : i + 4] for i in range(0, 40, 4))


class Signer:
    """An Ed25519 key pair (RFC 8032; signatures are deterministic)."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key

    @classmethod
    def load(cls, folder: Path | None = None) -> Self:
        """Load the user's key from `folder`, or make one there on first use."""
        folder = folder or key_folder()
        path = folder / PRIVATE
        if not path.exists():
            _create(folder)
        return cls(_read(path))

    @property
    def public_key(self) -> str:
        """The public key, 64 hexadecimal digits."""
        return self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()

    @property
    def fingerprint(self) -> str:
        """The public key's fingerprint."""
        return fingerprint(self.public_key)

    def sign(self, data: bytes) -> str:
        """Return the signature of `data`, 128 hexadecimal digits."""
        return self._key.sign(CONTEXT + data).hex()


def is_signed(data: bytes, public_key: str, signature: str) -> bool:
    """Say whether `signature` is that of `public_key` over `data`."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature), CONTEXT + data)
    except (InvalidSignature, ValueError):
        return False
    return True


def same_key(public_key: str, pinned: str | Path) -> bool:
    """Say whether `public_key` is the one that the user trusts.

    Parameters
    ----------
    pinned
        The public key in hexadecimal, its fingerprint (spaces and case do not matter), or a
        file that holds either.
    """
    text = str(pinned)
    if isinstance(pinned, Path) or not _digits(text):
        text = _read_text(Path(pinned))
    digits = _digits(text)
    if not digits:
        raise InputError(
            f"{pinned} is neither a public key nor a fingerprint",
            "give 64 (key) or 40 (fingerprint) hexadecimal digits, or a file that holds them",
        )
    return digits in (public_key, fingerprint(public_key).replace(" ", ""))


def _digits(text: str) -> str | None:
    digits = re.sub(r"[\s:]", "", text).lower()
    return digits if re.fullmatch(r"[0-9a-f]{64}|[0-9a-f]{40}", digits) else None


def _read_text(path: Path) -> str:
    try:
        return path.read_text("ascii")[:1000]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the key {path} cannot be read", "give the publisher's public key or its fingerprint"
        ) from error


def _create(folder: Path) -> None:
    """Make a key; of two processes that do so at once, one wins and both use its key."""
    key = Ed25519PrivateKey.generate()
    data = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.link(name, folder / PRIVATE)
        except FileExistsError:
            return
        finally:
            Path(name).unlink(missing_ok=True)
    write_bytes(folder / PUBLIC, f"{Signer(key).public_key}\n".encode())


def _read(path: Path) -> Ed25519PrivateKey:
    try:
        mode = path.stat().st_mode
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"the signing key {path} cannot be read", "restore it from a backup or move it away"
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{path} is not an Ed25519 key", "move it away; a new one will be made")
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"other users can read the signing key {path}", f"run: chmod 600 {path}")
    return key
