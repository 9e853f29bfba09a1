"""A command's options are one frozen dataclass, and some options are the same everywhere."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

T = TypeVar("T")

Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print one JSON document for machines instead of text.",
        rich_help_panel="What is printed",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No progress bars.", rich_help_panel="What is printed"),
]


def takes(options: type[T]) -> Callable[[Callable[[T], None]], Callable[..., None]]:
    """Give a command the fields of a dataclass as its options.

    Typer reads a function's signature; this writes one, so that a command with many options
    remains a function of one argument. Fields are annotated as Typer's parameters are.
    """
    hints = get_type_hints(options, include_extras=True)
    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[field.name],
            default=inspect.Parameter.empty
            if field.default is dataclasses.MISSING
            else field.default,
        )
        for field in dataclasses.fields(options)  # type: ignore[arg-type]
    ]

    def wrap(command: Callable[[T], None]) -> Callable[..., None]:
        def called(**values: Any) -> None:
            command(options(**values))

        called.__doc__ = _flowing(inspect.getdoc(command) or "")
        called.__name__ = command.__name__
        called.__annotations__ = {**hints, "return": None}
        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return called

    return wrap


def _flowing(text: str) -> str:
    """Join the lines of each paragraph, so that help is wrapped at the width of the terminal.

    Indented lines stay as they are: they are to be typed.
    """
    paragraphs = text.split("\n\n")
    return "\n\n".join(
        part if part.startswith("    ") else " ".join(part.split("\n")) for part in paragraphs
    )
