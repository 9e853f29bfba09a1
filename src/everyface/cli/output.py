"""What a command says: text for people, or exactly one JSON document for machines."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from everyface.errors import EveryfaceError
from everyface.release.breach import ReleaseBreachError


def plain(value: Any) -> Any:
    """Return `value` as JSON knows it; what is not a finite number becomes null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, str):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _foreign(value: Any) -> Any:
    """Bring what the json module does not know into a form that it does."""
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document on standard output."""
    sys.stdout.write(
        json.dumps(plain(document), indent=2, ensure_ascii=False, default=_foreign) + "\n"
    )
    sys.stdout.flush()


def failure(error: EveryfaceError) -> dict[str, Any]:
    """Return an error as the JSON document that stands for it."""
    told: dict[str, Any] = {
        "kind": type(error).__name__,
        "message": error.what,
        "todo": error.todo,
        "exit_code": error.exit_code,
    }
    if isinstance(error, ReleaseBreachError):
        told["breaches"] = error.breaches
    return {"error": told}


class Output:
    """Where a command puts its result.

    Parameters
    ----------
    as_json
        Print only the document that is handed to `document`. Everything else that would reach
        standard output, from whichever library, goes to standard error.
    """

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self._document: dict[str, Any] = {}
        self._console = Console(highlight=False, soft_wrap=True)

    def say(self, *lines: str) -> None:
        """Print lines for people, as they are."""
        if not self.as_json:
            for line in lines:
                self._console.print(line, markup=False)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table for people."""
        if self.as_json:
            return
        table = Table(*columns, box=None, pad_edge=False, header_style="bold")
        for row in rows:
            table.add_row(*row)
        width = 1000 if not self._console.is_terminal else None
        Console(highlight=False, width=width, markup=False).print(table)

    def document(self, document: Mapping[str, Any]) -> None:
        """Set the result for machines."""
        self._document = dict(document)


@contextlib.contextmanager
def output(as_json: bool) -> Iterator[Output]:
    """Yield where to put the result; print the JSON document at the end if one was asked for."""
    made = Output(as_json)
    if not as_json:
        yield made
        return
    with contextlib.redirect_stdout(sys.stderr):
        yield made
    print_json(made._document)
