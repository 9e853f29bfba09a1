"""The whole walk on people who do not exist, in both forms, and a page that shows it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from everyface.arrays import U8
from everyface.demo import people
from everyface.demo.sheet import Figure, Row, Summary, sheet
from everyface.errors import OutputError
from everyface.faces import FaceSet, read, read_photo
from everyface.files import write_bytes, writing
from everyface.pipeline import Form, anonymize
from everyface.progress import Tick, silent
from everyface.release import Verified, read_key_map, verify

K = 5
PEOPLE, PHOTOS = 60, 2
SHEET = "index.html"
FORMS: tuple[Form, ...] = ("faces", "photos")

_MARK = ".everyface-demo"


@dataclass(frozen=True)
class Made:
    """One release of the demo, as it was verified, and where each original went."""

    checked: Verified
    released: Mapping[Path, Path]


def run(out: Path, tick: Tick = silent, count: int = PEOPLE) -> Path:
    """Make people, release them in both forms, verify both, and show them.

    Parameters
    ----------
    out
        A new folder, or one that an earlier demo made: that one is made anew.
    tick
        Hears how far the work is.
    count
        How many people.

    Returns
    -------
    Path
        The page that shows originals and replacements.
    """
    _clear(out)
    photos = people.make(out / "people", count, PHOTOS, tick=tick)
    faces = read(photos, "folder", tick=tick)
    made = {form: _released(faces, out / form, form, tick) for form in FORMS}
    return _shown(faces, made, out / SHEET)


def _clear(out: Path) -> None:
    """Make room: of an earlier demo, never of anything else."""
    with writing(out):
        if out.is_dir() and (out / _MARK).is_file():
            shutil.rmtree(out)
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise OutputError(
                f"{out} already exists and is not of the demo", "choose a new folder with -o"
            )
    write_bytes(out / _MARK, b"made by everyface demo, which may remove this folder\n")


def _released(faces: FaceSet, out: Path, form: Form, tick: Tick) -> Made:
    anonymize(faces, K, form=form, tick=tick).save(out, tick=tick)
    held = read_key_map(out.with_name(f"{out.name}.private"))
    released = {Path(entry["original"]): out / entry["released"] for entry in held["files"]}
    return Made(verify(out), released)


def _shown(faces: FaceSet, made: Mapping[Form, Made], out: Path) -> Path:
    """Write the contact sheet from the written files."""
    shared: dict[int, U8] = {}
    numbers: dict[bytes, int] = {}
    rows = []
    for number, person in enumerate(faces.subjects):
        photos = [faces.photos[i].absolute() for i in faces.photo[faces.subject == number]]
        aligned = [
            made["faces"].released[path] for path in photos if path in made["faces"].released
        ]
        group = -1
        if aligned:
            group = numbers.setdefault(aligned[0].read_bytes(), len(numbers))
            shared.setdefault(group, read_photo(aligned[0]))
        merged = [made["photos"].released.get(path) for path in photos]
        rows.append(
            Row(
                group,
                person.replace("_", " "),
                [read_photo(path) for path in photos],
                [None if path is None else read_photo(path) for path in merged],
            )
        )
    return sheet(rows, _summary(made), out, shared)


def _summary(made: Mapping[Form, Made]) -> Summary:
    checked = {form: one.checked for form, one in made.items()}
    notes = [why for one in checked.values() for why in one.lowered_by]
    notes += [f"photos: {what}" for what in checked["photos"].carried_over]
    return Summary(
        title="Everyface: the demo",
        k=checked["faces"].k_reached,
        guarantees={form: one.guarantee for form, one in checked.items()},
        figures=[figure for form, one in checked.items() for figure in _figures(form, one)],
        notes=notes,
    )


def _figures(form: Form, checked: Verified) -> list[Figure]:
    """Say how many files were released, and what each attacker found in them."""
    figures = [Figure(f"Released, {form}", str(checked.files), f"{checked.refused} set aside")]
    gate: dict[str, Any] = checked.gate if isinstance(checked.gate, dict) else {"attacks": []}
    for attack in gate["attacks"]:
        figures.append(
            Figure(
                f"Recognised by {attack['recogniser']}, {form}",
                f"{attack['rank1']:.1%}",
                f"{attack['found']} of {attack['people']}; 95 % interval {attack['low']:.1%} to "
                f"{attack['high']:.1%}; allowed {gate['bound']:.1%}",
            )
        )
    return figures
