"""``everyface demo``: the whole walk on people who do not exist."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from everyface.cli import checks
from everyface.cli.options import Json, Quiet, takes
from everyface.cli.output import output
from everyface.cli.progress import progress


@dataclass(frozen=True, kw_only=True)
class Demo:
    """What can be said on the command line."""

    out: Annotated[Path, typer.Option("--output", "-o", help="Where the demo is written.")] = Path(
        "demo-release"
    )
    quiet: Quiet = False
    as_json: Json = False


@takes(Demo)
def demo(options: Demo) -> None:
    """Make synthetic people, anonymise them at k = 5, check the result and show it.

    The first run fetches the networks (some hundred MB).
    """
    with output(options.as_json) as out:
        from everyface.demo.run import run

        try:
            with progress(options.quiet) as tick:
                sheet = run(options.out, tick)
        except KeyboardInterrupt as error:
            raise checks.StoppedError(
                "stopped", "Run the same command again to continue"
            ) from error
        out.document({"sheet": sheet})
        out.say("", f"Done. Open this file in your browser: {sheet}")
