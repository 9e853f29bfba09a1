"""What can be wrong with the paths on a command line, said before any work is done."""

from __future__ import annotations

import contextlib
import difflib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import typer

from everyface.errors import EveryfaceError, InputError, OutputError
from everyface.release.places import require_empty

_SUBJECTS = ("auto", "folder", "each")
_WITH_VALUE = ("pattern", "csv")


def out(release: Path, inputs: Sequence[Path], resume: bool = False) -> None:
    """Refuse a release that would overwrite, hold or lie among its own inputs.

    Where a run is resumed, the release may stand already: then only its work is left to clear.
    """
    home = release.resolve()
    for path in inputs:
        source = path.resolve()
        if home == source:
            raise OutputError(f"{release} is both input and output", "choose another folder for -o")
        if source in home.parents and path.is_dir():
            raise OutputError(
                f"the release {release} would lie inside the photos in {path}",
                "choose a folder outside them for -o",
            )
        if home in source.parents:
            raise OutputError(
                f"the photos in {path} lie inside the release folder {release}",
                "choose another folder for -o",
            )
    if not resume:
        require_empty(release)


def subjects(spec: str) -> None:
    """Refuse a way of telling people apart that does not exist."""
    kind, colon, value = spec.partition(":")
    if not colon and kind in _SUBJECTS:
        return
    if kind not in _WITH_VALUE:
        close = difflib.get_close_matches(kind, (*_SUBJECTS, *_WITH_VALUE), n=1)
        raise InputError(
            f"--subjects {spec!r} is not a way to tell people apart",
            (f"did you mean {close[0]}? " if close else "")
            + "choose auto, folder, each, pattern:… or csv:FILE",
        )
    if not value:
        shown = "csv:people.csv" if kind == "csv" else "pattern:{person}_*.jpg"
        raise InputError(f"--subjects {kind} needs a value", f"write for instance {shown}")
    if kind == "csv" and not Path(value).is_file():
        raise InputError(f"the table of people {value} does not exist", "check its path")


def seed(path: Path | None) -> int | None:
    """Read the secret seed, one whole number in a text file."""
    if path is None:
        return None
    text = _text(path, "seed")
    with contextlib.suppress(ValueError):
        if (number := int(text)) >= 0:
            return number
    raise InputError(
        f"the seed file {path} does not hold one whole number, 0 or more",
        "write one into it, and keep the file as secret as the photos",
    )


def private(spec: str, release: Path, inputs: Sequence[Path]) -> Path | Literal["beside"] | None:
    """Decide where the key map goes; never into the release."""
    if spec == "none":
        return None
    if spec == "beside":
        return "beside"
    home = Path(spec).resolve()
    if home == release.resolve() or release.resolve() in home.parents:
        raise OutputError(
            f"the private folder {spec} lies inside the release",
            "it says who is who: choose a folder that is not published",
        )
    if any(home == path.resolve() for path in inputs):
        raise OutputError(f"{spec} is both input and private folder", "choose another folder")
    return Path(spec)


def passphrase(file: Path | None, ask: bool, *, twice: bool = True) -> str | None:
    """Get the passphrase of the key map: from a file, or typed, unseen."""
    if file is not None:
        given = _text(file, "passphrase").rstrip("\r\n")
    elif not ask:
        return None
    elif not sys.stdin.isatty():
        raise InputError(
            "a passphrase is needed, but this is not a terminal", "use --passphrase-file FILE"
        )
    else:
        again = "The same once more" if twice else False
        given = str(
            typer.prompt("Passphrase", hide_input=True, err=True, confirmation_prompt=again)
        )
    if not given:
        raise InputError("the passphrase is empty", "give one of several words")
    return given


def _text(path: Path, what: str) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise InputError(f"the {what} file {path} cannot be read ({reason})") from error


class StoppedError(EveryfaceError):
    """The user pressed Ctrl-C."""

    exit_code = 130
