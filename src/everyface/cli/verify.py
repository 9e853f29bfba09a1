"""``everyface verify``: anybody, anywhere, can check a release."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from everyface.cli.options import Json, takes
from everyface.cli.output import output


@dataclass(frozen=True, kw_only=True)
class Verify:
    """What can be said on the command line."""

    release: Annotated[Path, typer.Argument(help="The folder of a release.")]
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
        from everyface import release

        found = release.verify(options.release, key=options.key)
        out.document(found.as_dict())
        out.say(*found.sentences())
