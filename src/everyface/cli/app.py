"""The commands together, and what happens when one of them fails."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

import platformdirs
import typer

import everyface
from everyface.cli import anonymize, demo, doctor, key, keymap, models, recipes, verify
from everyface.cli.output import failure, print_json
from everyface.errors import EveryfaceError, EveryfaceWarning
from everyface.files import write_bytes

_DEBUG = "EVERYFACE_DEBUG"
_INTERRUPTED = 130

app = typer.Typer(
    name="everyface",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("anonymize")(anonymize.anonymize)
app.command("verify")(verify.verify)
app.command("recipes")(recipes.recipes)
app.add_typer(models.app, name="models")
app.command("doctor")(doctor.doctor)
app.command("demo")(demo.demo)
app.command("key")(key.key)
app.command("keymap")(keymap.keymap)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"everyface {everyface.__version__}")
        raise typer.Exit


@app.callback()
def _everyface(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", envvar=_DEBUG, help="Show the whole trace of an unexpected error."),
    ] = False,
) -> None:
    """Publish face photos in which nobody can be singled out, and prove it."""
    if debug:
        os.environ[_DEBUG] = "1"


class UsageError(EveryfaceError):
    """The command line itself cannot be understood."""


class UnexpectedError(EveryfaceError):
    """A mistake in Everyface, not of its user."""

    exit_code = 1


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; never let a traceback out unasked."""
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", EveryfaceWarning)
    warnings.showwarning = _note
    try:
        code = app(args=list(arguments), prog_name="everyface", standalone_mode=False)
    except EveryfaceError as error:
        return _failed(error, arguments)
    except typer.TyperException as error:
        # Asked for nothing, Typer has shown the help and says no more.
        return _failed(_usage(error), arguments) if error.format_message() else 2
    except typer.Abort:
        code = _INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # noqa: BLE001
        return _failed(_unexpected(error), arguments)
    if code == _INTERRUPTED:
        sys.stderr.write("stopped.\n")
    return code if isinstance(code, int) else 0


def _note(message: Warning | str, *_where: object, **_more: object) -> None:
    """Say a warning as one line on standard error."""
    sys.stderr.write(f"note: {message}\n")


def _usage(error: typer.TyperException) -> UsageError:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "everyface"
    return UsageError(error.format_message().strip().rstrip("."), f"See {path} --help")


def _unexpected(error: Exception) -> UnexpectedError:
    """Write the trace where only its owner reads it, since it may name photos."""
    what = f"Everyface itself failed ({type(error).__name__}: {_first_line(error)})"
    trace = "".join(traceback.format_exception(error))
    if os.environ.get(_DEBUG):
        sys.stderr.write(trace)
        return UnexpectedError(what)
    log = Path(platformdirs.user_log_dir("everyface")) / f"{datetime.now():%Y%m%d-%H%M%S}.log"
    try:
        write_bytes(log, trace.encode(), private=True)
    except EveryfaceError:
        return UnexpectedError(what, "run everyface --debug … to see the whole trace")
    return UnexpectedError(
        what, f"The whole trace is in {log}; please report it without private names"
    )


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else "no message"


def _failed(error: EveryfaceError, arguments: Sequence[str]) -> int:
    if "--json" in arguments:
        print_json(failure(error))
    todo = error.todo[:1].upper() + error.todo[1:]
    sys.stderr.write(f"error: {_sentence(error.what)} {_sentence(todo)}".rstrip() + "\n")
    return error.exit_code


def _sentence(text: str) -> str:
    """Give a text its full stop where it lacks one."""
    return text if text.endswith(("?", "!", ".")) or not text else f"{text}."
