"""``everyface anonymize``: photos in, a certified release out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from everyface.cli import checks
from everyface.cli.options import Json, Quiet, takes
from everyface.cli.output import output
from everyface.cli.progress import progress
from everyface.cli.summary import sentences
from everyface.errors import InputError
from everyface.release import work_folder

_MAKE = "What is made"
_SAFE = "How safe it is"
_KEEP = "What is kept private"


@dataclass(frozen=True, kw_only=True)
class Anonymize:
    """What can be said on the command line, with defaults that are safe rather than pretty."""

    photos: Annotated[
        list[Path], typer.Argument(metavar="PHOTOS", help="Photos, or folders of photos.")
    ]
    out: Annotated[
        Path,
        typer.Option("--output", "-o", help="The release: a new folder.", rich_help_panel=_MAKE),
    ]
    form: Annotated[
        Literal["faces", "photos"],
        typer.Option(
            help="[b]faces[/b]: aligned faces, where k is proven. "
            "[b]photos[/b]: whole photos with new faces, where the risk is measured.",
            rich_help_panel=_MAKE,
        ),
    ] = "faces"
    recipe: Annotated[
        str,
        typer.Option(
            help="A method by name (everyface recipes), or a TOML file of your own.",
            rich_help_panel=_MAKE,
        ),
    ] = "everyface"
    background: Annotated[
        Literal["keep", "blur", "mean", "mask"],
        typer.Option(
            help="With --form photos: what happens to everything outside the faces.",
            rich_help_panel=_MAKE,
        ),
    ] = "keep"
    select: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            help="Group people only with people of the same label, so that it survives: gender, "
            "age, skin, or a column of the table given with --subjects csv:FILE.",
            rich_help_panel=_MAKE,
        ),
    ] = None
    k: Annotated[
        int,
        typer.Option(
            "-k", help="At least how many people stand behind each face.", rich_help_panel=_SAFE
        ),
    ] = 5
    subjects: Annotated[
        str,
        typer.Option(
            metavar="WAY",
            help="Which photos show the same person. [b]auto[/b]: found by their faces. "
            "[b]folder[/b]: one folder a person. [b]each[/b]: every photo another person. "
            "[b]pattern:{person}_*.jpg[/b]: by file name. [b]csv:FILE[/b]: by a table.",
            rich_help_panel=_SAFE,
        ),
    ] = "auto"
    max_risk: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="The greatest share of people whom an attack may find again: 1/k, or less.",
            show_default="1/k",
            rich_help_panel=_SAFE,
        ),
    ] = None
    gate: Annotated[
        bool,
        typer.Option(
            "--gate/--no-gate",
            help="Attack the result before it is released, and mend what fails.",
            rich_help_panel=_SAFE,
        ),
    ] = True
    commercial: Annotated[
        bool,
        typer.Option(
            "--commercial",
            help="Refuse models whose licence forbids commercial use.",
            rich_help_panel=_SAFE,
        ),
    ] = False
    private: Annotated[
        str,
        typer.Option(
            metavar="DIR|none",
            help="Where the key map and the photos set aside go, readable by you alone.",
            show_default="OUTPUT.private",
            rich_help_panel=_KEEP,
        ),
    ] = "beside"
    passphrase: Annotated[
        bool,
        typer.Option(
            "--passphrase",
            help="Ask for a passphrase and encrypt the key map with it.",
            rich_help_panel=_KEEP,
        ),
    ] = False
    passphrase_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Read the passphrase from a file.", rich_help_panel=_KEEP
        ),
    ] = None
    seed_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Read the secret seed (one whole number) from a file, to make the same release "
            "again. Left out, a new one is drawn.",
            rich_help_panel=_KEEP,
        ),
    ] = None
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue a run that was stopped.", rich_help_panel=_MAKE),
    ] = False
    quiet: Quiet = False
    as_json: Json = False


@takes(Anonymize)
def anonymize(options: Anonymize) -> None:
    """Replace every face in PHOTOS so that it stands for at least k people.

    The result is a new folder with a certificate. Photos in which a face was missed, doubtful or
    still recognisable are set aside, never released.
    """
    checks.out(options.out, options.photos, options.resume)
    checks.subjects(options.subjects)
    private = checks.private(options.private, options.out, options.photos)
    passphrase = checks.passphrase(options.passphrase_file, options.passphrase)
    if passphrase is not None and private is None:
        raise InputError(
            "a passphrase was given, but --private none writes nothing to encrypt",
            "leave one of the two out",
        )
    seed = checks.seed(options.seed_file)
    with output(options.as_json) as out:
        from everyface import pipeline

        asked = pipeline.Options(
            k=options.k,
            recipe=options.recipe,
            form=options.form,
            background=options.background,
            select=options.select,
            gate=options.gate,
            max_risk=options.max_risk,
            commercial=options.commercial,
        )
        try:
            with progress(options.quiet) as tick:
                done = pipeline.run(
                    options.photos,
                    options.out,
                    options.subjects,
                    asked,
                    resume=options.resume,
                    secrets=pipeline.Secrets(seed, private, passphrase),
                    tick=tick,
                )
        except KeyboardInterrupt as error:
            raise checks.StoppedError(
                f"stopped; nothing was released, and what is done so far is kept in "
                f"{work_folder(options.out)}",
                "Run the same command with --resume to continue",
            ) from error
        out.document(done.as_dict())
        out.say(*sentences(done))
