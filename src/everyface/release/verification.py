"""Check a release with nothing but the release, and, where given, the publisher's key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from everyface.errors import InputError
from everyface.release.breach import ReleaseBreachError
from everyface.release.certificate import CERTIFICATE, Certificate
from everyface.release.claims import claims, created_day
from everyface.release.contents import contents
from everyface.release.leaks import leaks
from everyface.release.reading import (
    UnreadableError,
    as_certificate,
    check_signature,
    read_document,
)
from everyface.release.signer import fingerprint
from everyface.release.tree import copied, tree_breaches


@dataclass(frozen=True)
class Verified:
    """A release that holds what its certificate says.

    Attributes
    ----------
    people_counted
        Whether the people of each group were counted from the files (faces form); else the
        number rests on the signer's word.
    key_pinned
        Whether the signer's key was held against one that the user trusts.
    remarks
        What a careful reader must know about this verdict.
    """

    path: Path
    release: str
    created: str
    software: str
    form: str
    k: int
    k_reached: int
    files: int
    faces: int
    people: int
    groups: int
    refused: int
    guarantee: str
    lowered_by: tuple[str, ...]
    gate: dict[str, Any] | str
    background: str | None
    carried_over: tuple[str, ...]
    public_key: str
    fingerprint: str
    key_pinned: bool
    people_counted: bool
    remarks: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**asdict(self), "path": str(self.path)}


def verify(path: Path, key: str | Path | None = None) -> Verified:
    """Check everything that can be checked about the release in `path`.

    Parameters
    ----------
    path
        The folder of the release.
    key
        The publisher's public key, its fingerprint, or a file that holds one of them. Without
        it, a release that somebody else signed consistently passes.

    Raises
    ------
    ReleaseBreachError
        With every breach that was found.

    Examples
    --------
    >>> import everyface as ef
    >>> found = ef.verify("release")
    >>> found.k, found.k_reached >= found.k, found.people_counted
    (5, True, True)
    >>> found.remarks
    ('no key was given: anybody could have signed this release',)

    A release in which anything was changed does not pass:

    >>> note = found.path / "images" / "note.txt"
    >>> _ = note.write_text("These are the people of ward 7.")
    >>> ef.verify("release")
    Traceback (most recent call last):
    everyface.release.breach.ReleaseBreachError: ...
    >>> note.unlink()
    """
    root = Path(path)
    if not root.is_dir():
        raise InputError(f"{root} is not a folder", "give the folder of a release")
    breaches = list(tree_breaches(root))
    public_key, certificate = "", None
    try:
        raw, data = read_document(root / CERTIFICATE)
        breaches += leaks(data)
        public_key, found = check_signature(root, raw, key)
        breaches += found
        certificate = as_certificate(raw, data)
        breaches += [*claims(certificate), *contents(root, certificate)]
    except UnreadableError as error:
        breaches.append(error.breach)
    if breaches or certificate is None:
        raise ReleaseBreachError(str(root), breaches)
    return _verdict(root, certificate, public_key, pinned=key is not None)


def _verdict(root: Path, certificate: Certificate, public_key: str, *, pinned: bool) -> Verified:
    gate = certificate.gate
    return Verified(
        path=root,
        release=certificate.release,
        created=certificate.created,
        software=f"{certificate.software.name} {certificate.software.version}",
        form=certificate.form,
        k=certificate.k,
        k_reached=certificate.k_reached,
        **certificate.counts.model_dump(),
        refused=certificate.refused.total,
        guarantee=certificate.guarantee.level,
        lowered_by=certificate.guarantee.lowered_by,
        gate=gate if isinstance(gate, str) else gate.model_dump(mode="json"),
        background=certificate.background,
        carried_over=certificate.carried_over,
        public_key=public_key,
        fingerprint=fingerprint(public_key),
        key_pinned=pinned,
        people_counted=certificate.form == "faces",
        remarks=tuple(_remarks(root, certificate, pinned=pinned)),
    )


def _remarks(root: Path, certificate: Certificate, *, pinned: bool) -> Iterator[str]:
    """Say what this verdict does not rest on."""
    if not pinned:
        yield "no key was given: anybody could have signed this release"
    if certificate.form == "photos":
        yield "how many people stand behind a face is the signer's word"
    if certificate.guarantee.level == "wrong-map":
        yield "wrong-map is the signer's word: it cannot be counted from the files"
    if certificate.gate == "not run":
        yield "the attacks were not run on this release"
    day = created_day(certificate)
    if day is not None and copied(root, day):
        yield "this is a copy that did not keep the release's time stamps"
