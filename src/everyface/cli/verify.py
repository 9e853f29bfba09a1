"""``everyface verify``: anybody, anywhere, can check a release."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from everyface.cli.options import Json, takes
from everyface.cli.output import output
from everyface.cli.summary import count, gate_lines, guarantee_lines
from everyface.guarantee import Guarantee, Level
from everyface.release import Verified
from everyface.release import verify as check


@dataclass(frozen=True, kw_only=True)
class Verify:
    """What can be said on the command line."""

    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The folder of a release.")]
    key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="The publisher's public key: its text, its fingerprint, or a file that holds it. "
            "Without it the release is checked against the key that came with it.",
        ),
    ] = None
    as_json: Json = False


@takes(Verify)
def verify(options: Verify) -> None:
    """Check a release: its signature, every file, and that every face stands for k people.

    Everything is counted again from the files. Exit code 5 means that something does not hold.
    """
    with output(options.as_json) as out:
        found = check(options.release, options.key)
        out.document({"holds": True, **found.as_dict()})
        out.say(*sentences(found))


def sentences(found: Verified) -> list[str]:
    """Say what was checked, what the release promises, and what this verdict does not rest on."""
    guarantee = Guarantee(Level.from_label(found.guarantee), found.lowered_by)
    images = count(found.files, "image", "images")
    counted = "counted from the files" if found.people_counted else "as the signer says"
    return [
        f"{found.path} holds what it promises: {images}, nothing more, nothing changed.",
        "",
        f"  people      {found.people} in {count(found.groups, 'group', 'groups')} of at least "
        f"{found.k_reached} (k = {found.k}), {counted}",
        *guarantee_lines(guarantee, found.k_reached),
        *gate_lines(None if isinstance(found.gate, str) else found.gate),
        f"  signed by   {found.fingerprint}, {found.created}",
        *(f"  note        {remark}" for remark in found.remarks),
    ]
