"""``everyface models``: which networks there are, where they lie, who may use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from everyface.cli.options import Json, Quiet, takes
from everyface.cli.output import output
from everyface.cli.progress import progress

if TYPE_CHECKING:
    from everyface.models.registry import Entry

app = typer.Typer(no_args_is_help=True, help="List, fetch and judge the networks that are used.")

Commercial = Annotated[
    bool,
    typer.Option("--commercial", help="Only those whose licence allows commercial use."),
]


@dataclass(frozen=True, kw_only=True)
class Which:
    """What can be said to list models."""

    commercial: Commercial = False
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class Pull:
    """What can be said to fetch models."""

    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Which models; all that may be used if left out."),
    ] = None
    folder: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="DIR",
            help="Take what a folder of downloaded packages holds; no network is used.",
        ),
    ] = None
    commercial: Commercial = False
    quiet: Quiet = False
    as_json: Json = False


@app.command("list")
@takes(Which)
def listed(options: Which) -> None:
    """List the networks, and which of them are on this machine."""
    from everyface.models import store

    with output(options.as_json) as out:
        wanted = [(entry, store.status(entry.name)) for entry in _entries(options.commercial)]
        out.document(
            {
                "folder": store.cache_folder(),
                "models": [
                    {
                        **entry.model_dump(include={"name", "role", "note", "licence"}),
                        "commercial": entry.commercial,
                        "bytes": entry.bytes,
                        "sha256": entry.digest,
                        "state": status.state,
                    }
                    for entry, status in wanted
                ],
            }
        )
        out.table(
            ["MODEL", "FOR", "SIZE", "HERE", "COMMERCIAL USE"],
            [
                [e.name, e.role, megabytes(e.bytes), status.state.value, _allowed(e)]
                for e, status in wanted
            ],
        )
        out.say(
            "", f"They are kept in {store.cache_folder()}; what is absent is fetched when needed."
        )


@app.command("pull")
@takes(Pull)
def pull(options: Pull) -> None:
    """Fetch networks now, so that later work needs no network connection."""
    from everyface.errors import InputError
    from everyface.models import policy, store

    if options.commercial:
        policy.restrict()
    with output(options.as_json) as out:
        with progress(options.quiet) as tick:
            if options.folder is not None:
                if options.names:
                    raise InputError(
                        "--from takes all that the folder holds", "leave the names out"
                    )
                names: Sequence[str] = store.fill(options.folder, tick)
            else:
                names = options.names or [entry.name for entry in _entries(options.commercial)]
                store.pull(names, tick)
        out.document({"folder": store.cache_folder(), "present": names})
        out.say(f"On this machine and checked: {', '.join(names)}")


@app.command("licences")
@takes(Which)
def licences(options: Which) -> None:
    """Show what each network's licence allows."""
    with output(options.as_json) as out:
        wanted = _entries(options.commercial)
        out.document(
            {
                "models": [
                    {"name": e.name, "licence": e.licence, "commercial": e.commercial}
                    for e in wanted
                ]
            }
        )
        out.table(
            ["MODEL", "COMMERCIAL USE", "LICENCE"],
            [[entry.name, _allowed(entry), entry.licence] for entry in wanted],
        )
        out.say("", "anonymize --commercial refuses those that may not be used commercially.")


def megabytes(size: int) -> str:
    """Say a size as people read it."""
    return f"{size / 1e6:.1f} MB"


def _entries(commercial: bool) -> list[Entry]:
    from everyface.models import policy, registry

    return [e for e in registry.entries() if policy.allowed(e) and (e.commercial or not commercial)]


def _allowed(entry: Entry) -> str:
    return "yes" if entry.commercial else "no"
