"""``everyface keymap``: what only the owner may read, who is who."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from everyface.cli import checks
from everyface.cli.options import takes
from everyface.cli.output import print_json
from everyface.release.private import LOCKED, read_key_map


@dataclass(frozen=True, kw_only=True)
class Keymap:
    """What can be said on the command line."""

    private: Annotated[Path, typer.Argument(help="The private folder of a release.")]
    passphrase_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Read the passphrase from a file instead of asking."),
    ] = None


@takes(Keymap)
def keymap(options: Keymap) -> None:
    """Print the key map of a release: which original became which file.

    It undoes the anonymisation. An encrypted one asks for its passphrase.
    """
    locked = (options.private / LOCKED).exists() or options.private.name == LOCKED
    passphrase = checks.passphrase(options.passphrase_file, locked, twice=False)
    print_json(read_key_map(options.private, passphrase))
