"""``everyface recipes``: the methods, each with what it promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from everyface.cli.options import Json, takes
from everyface.cli.output import output


@dataclass(frozen=True, kw_only=True)
class Recipes:
    """What can be said on the command line."""

    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One recipe, to see it whole.")
    ] = None
    toml: Annotated[
        bool, typer.Option("--toml", help="Print only its file, to copy and change.")
    ] = False
    as_json: Json = False


@takes(Recipes)
def recipes(options: Recipes) -> None:
    """List the methods, or show one.

    A recipe is a small TOML file. To make your own, save one, change it, and give its path:

        everyface recipes k-same-m --toml > mine.toml
        everyface anonymize … --recipe mine.toml
    """
    from everyface import recipe

    with output(options.as_json) as out:
        if options.name is None:
            known = [recipe.load(name) for name in recipe.names()]
            out.document({"recipes": [each.as_dict() for each in known]})
            out.table(
                ["RECIPE", "FROM", "WHAT IT DOES"], [[r.name, r.paper, r.summary] for r in known]
            )
            out.say("", "One of them in full: everyface recipes NAME")
            return
        found = recipe.load(options.name)
        text = recipe.source(found.name)
        out.document({**found.as_dict(), "toml": text})
        if not options.toml:
            out.say(
                f"{found.title} ({found.paper})",
                "",
                found.summary,
                "",
                f"Its file, {found.name}.toml:",
                "",
            )
        out.say(text.rstrip("\n"))
