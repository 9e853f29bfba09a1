"""``everyface keymap``: what only the owner may read, who is who."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from everyface.cli import checks
from everyface.cli.options import Json, takes
from everyface.cli.output import Output, output
from everyface.release.private import LOCKED, read_key_map


@dataclass(frozen=True, kw_only=True)
class Keymap:
    """What can be said on the command line."""

    private: Annotated[
        Path, typer.Argument(metavar="PRIVATE", help="The private folder of a release.")
    ]
    passphrase_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Read the passphrase from a file instead of asking."),
    ] = None
    as_json: Json = False


@takes(Keymap)
def keymap(options: Keymap) -> None:
    """Show the key map of a release: which original became which file.

    It undoes the anonymisation. An encrypted one asks for its passphrase. With --json it is shown
    whole, the secret seed included.
    """
    locked = (options.private / LOCKED).exists() or options.private.name == LOCKED
    passphrase = checks.passphrase(options.passphrase_file, locked, twice=False)
    with output(options.as_json) as out:
        held = read_key_map(options.private, passphrase)
        out.document(held)
        _shown(held, out)


def _shown(held: Mapping[str, Any], out: Output) -> None:
    out.say(f"Key map of the release {held['release']}. Keep it safe; never publish it.", "")
    out.table(
        ["RELEASED", "ORIGINAL"],
        [[entry["released"], entry["original"]] for entry in held["files"]],
    )
    if held["refused"]:
        out.say("", "Set aside, not released:", "")
        out.table(
            ["ORIGINAL", "REASON"],
            [[entry["original"], entry["reason"]] for entry in held["refused"]],
        )
