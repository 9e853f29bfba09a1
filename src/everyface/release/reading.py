"""The certificate and its signature, read as one reads what a stranger wrote."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from everyface.release.breach import Breach
from everyface.release.certificate import (
    SCHEMA,
    SIGNATURE,
    Certificate,
    Signature,
    canonical,
)
from everyface.release.signer import is_signed, same_key

LARGEST = 256 * 2**20
"""Bytes of a certificate: enough for half a million files."""


class UnreadableError(Exception):
    """A document cannot be taken as what it should be."""

    def __init__(self, code: str, what: str) -> None:
        self.breach = Breach(code, what)
        super().__init__(what)


def read_plain(path: Path, limit: int) -> bytes:
    """Read a plain file of at most `limit` bytes without following a link."""
    handle = os.open(
        path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    )
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise UnreadableError("unreadable", f"{path.name} is not a plain file")
        # Asked beforehand: a certificate may claim sizes that no memory holds.
        data = file.read(min(limit, state.st_size) + 1)
    if len(data) > limit:
        raise UnreadableError("size", f"{path.name} is larger than it may be")
    return data


def read_document(path: Path) -> tuple[bytes, dict[str, Any]]:
    """Read canonical JSON: one object, no key twice, no byte that could be written otherwise."""
    try:
        raw = read_plain(path, LARGEST)
        data = json.loads(raw, object_pairs_hook=_once, parse_constant=_refuse)
        same = isinstance(data, dict) and canonical(data) == raw
    except UnreadableError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise UnreadableError("unreadable", f"{path.name} cannot be read ({error})") from error
    if not same:
        raise UnreadableError("not-canonical", f"{path.name} is not written in the one allowed way")
    return raw, data


def as_certificate(raw: bytes, data: dict[str, Any]) -> Certificate:
    """Hold a certificate against its schema."""
    version = data.get("schema_version")
    if version != SCHEMA:
        raise UnreadableError(
            "schema",
            f"the certificate has schema {ascii(version)[:20]}, this program knows {SCHEMA!r}",
        )
    try:
        return Certificate.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ascii(".".join(str(part) for part in first["loc"])[:200])
        raise UnreadableError(
            "schema", f"the certificate's {where} is wrong: {first['msg']}"
        ) from error


def check_signature(root: Path, raw: bytes, pinned: str | Path | None) -> tuple[str, list[Breach]]:
    """Return the public key that the release names, and what is wrong with its signature."""
    if not os.path.lexists(root / SIGNATURE):
        return "", [Breach("unsigned", "the certificate is not signed")]
    try:
        _, data = read_document(root / SIGNATURE)
        signature = Signature.model_validate_json(canonical(data))
    except UnreadableError as error:
        return "", [error.breach]
    except ValidationError:
        return "", [Breach("signature", f"{SIGNATURE} is not a signature")]
    breaches = []
    if not is_signed(raw, signature.public_key, signature.signature):
        breaches.append(Breach("signature", "the signature is not that of this certificate"))
    if pinned is not None and not same_key(signature.public_key, pinned):
        breaches.append(Breach("wrong-key", "it is signed by another key than the one given"))
    return signature.public_key, breaches


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")
