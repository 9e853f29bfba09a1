"""What the user says about who is on which photo: by folder, by file name, by a table, or not."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from everyface.errors import InputError

_FILE_COLUMNS = ("file", "filename", "file_name", "photo", "path", "image", "img", "picture")
_SUBJECT_COLUMNS = (
    *("subject", "person", "identity", "subject_id", "person_id", "face_id", "id"),
    *("who", "name", "label"),
)
_FACE_COLUMNS = ("face", "box", "index", "face_index", "box_index")


@dataclass(frozen=True)
class Naming:
    """What the user says about who is on the photos.

    Attributes
    ----------
    person
        Photo → the name of its person, or None where the machine is to find out.
    face
        (Photo, face) → a name; faces are counted from the left, from 1.
    unknown
        Photos about which nothing is said although it should be, and why.
    labels
        Label → (photo, name) → its value: the other columns of a table.
    """

    person: dict[int, str] = field(default_factory=dict)
    face: dict[tuple[int, int], str] = field(default_factory=dict)
    unknown: dict[int, str] = field(default_factory=dict)
    labels: dict[str, dict[tuple[int, str], str]] = field(default_factory=dict)


def naming(spec: str, photos: Sequence[Path]) -> Naming:
    """Read a subject specification.

    Parameters
    ----------
    spec
        ``folder``: the folder that a photo lies in names its person, wherever that folder lies.
        ``each``: every photo shows another person. ``pattern:…``: the file name tells, by
        ``{person}`` among ``*`` and ``?`` (``pattern:{person}_*.jpg``), or by a regular
        expression with a group. ``csv:FILE``: a table tells. ``auto``: faces that look alike are
        one person.
    photos
        The photos in question.
    """
    kind, _, rest = spec.partition(":")
    if spec == "folder":
        return Naming({i: _whole(path).parent.name or "/" for i, path in enumerate(photos)})
    if spec == "each":
        return Naming(dict(enumerate(short_names(photos))))
    if spec == "auto":
        return Naming()
    if kind == "pattern" and rest:
        return _by_pattern(rest, photos)
    if kind == "csv" and rest:
        return _by_csv(Path(rest), photos)
    raise InputError(
        f"{spec!r} does not say who is who",
        "use folder, each, auto, pattern:{person}_*.jpg or csv:FILE",
    )


def short_names(photos: Sequence[Path]) -> list[str]:
    """Return the photos' paths without the folder that all of them share."""
    whole = [_whole(path) for path in photos]
    root = os.path.commonpath([path.parent for path in whole]) if whole else ""
    return [path.relative_to(root).as_posix() for path in whole]


def _whole(path: Path) -> Path:
    """Return a path from the root on, without the dots that would hide a folder's name."""
    return Path(os.path.normpath(path.absolute()))


def _by_pattern(pattern: str, photos: Sequence[Path]) -> Naming:
    """Read people from file names, or from the ends of paths where the pattern has a slash."""
    expression = _expression(pattern)
    said = Naming()
    parts = pattern.count("/") + 1
    for number, path in enumerate(photos):
        match = expression.fullmatch("/".join(_whole(path).parts[-parts:]))
        person = match and (match.groupdict().get("person") or match.group(1))
        if person:
            said.person[number] = person
        else:
            said.unknown[number] = f"its name does not match the pattern {pattern}"
    if photos and not said.person:
        raise InputError(
            f"no photo matches the pattern {pattern} (the first is called {photos[0].name})",
            "write what the names share, with {person} where the person's name stands",
        )
    return said


def _expression(pattern: str) -> re.Pattern[str]:
    """Turn ``{person}``, ``*`` and ``?`` into a regular expression; one with a group is one."""
    if "{person}" in pattern:
        words = {"{person}": "(?P<person>[^/]+?)", "*": "[^/]*", "?": "[^/]"}
        pieces = re.split(r"(\{person\}|\*|\?)", pattern)
        first = "(?P<person>" + words["{person}"].partition(">")[2]
        text, named = "", False
        for piece in pieces:
            if piece == "{person}" and named:
                text += "(?P=person)"
            elif piece == "{person}":
                text, named = text + first, True
            else:
                text += words.get(piece, re.escape(piece))
        return re.compile(text)
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise InputError(
            f"the pattern {pattern} is not a regular expression ({error})",
            "use {person} and * instead, as in pattern:{person}_*.jpg",
        ) from error
    if not expression.groups:
        raise InputError(
            f"the pattern {pattern} does not say where the person's name stands",
            "put {person} there, as in pattern:{person}_*.jpg",
        )
    return expression


def _by_csv(table: Path, photos: Sequence[Path]) -> Naming:
    """Read people from a table with a column for the file, for the person, maybe for the face."""
    lines = _lines(table)
    columns = _columns(table, lines[0][1])
    more = _more_columns(lines[0][1], columns)
    said = Naming(labels={name: {} for name in more})
    index = _index(photos)
    for line, cells in lines[1:]:
        cell = {name: cells[at].strip() if at < len(cells) else "" for name, at in columns.items()}
        if not any(cells):
            continue
        if not cell["file"] or not cell["subject"]:
            missing = "file" if not cell["file"] else "person"
            raise InputError(f"line {line} of {table} names no {missing}", "fill it in")
        numbers = _numbers(table, line, cell["file"], index)
        for number in numbers:
            _say(said, number, cell, f"line {line} of {table}")
            for name, at in more.items():
                if at < len(cells) and cells[at].strip():
                    said.labels[name][number, cell["subject"]] = cells[at].strip()
    mentioned = {*said.person, *(number for number, _ in said.face)}
    if photos and not mentioned:
        raise InputError(
            f"{table} names none of the photos (one is {photos[0].name})",
            "write the photos' file names, or their paths from the table's folder",
        )
    for number in range(len(photos)):
        if number not in mentioned:
            said.unknown[number] = f"{table.name} does not say who is on it"
    return said


def _say(said: Naming, number: int, cell: dict[str, str], where: str) -> None:
    if not cell.get("face"):
        before = said.person.setdefault(number, cell["subject"])
    elif cell["face"].isdigit() and int(cell["face"]) >= 1:
        before = said.face.setdefault((number, int(cell["face"])), cell["subject"])
    else:
        raise InputError(
            f"{where} has {cell['face']!r} for a face", "count the faces from the left, from 1"
        )
    if before != cell["subject"]:
        raise InputError(
            f"{where} calls {cell['subject']!r} who was called {before!r} before",
            "name each face once",
        )


def _lines(table: Path) -> list[tuple[int, list[str]]]:
    try:
        text = table.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(
            f"the table {table} cannot be read ({error.strerror or error})", "check its name"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(f"the table {table} is not UTF-8 text", "save it as CSV UTF-8") from error
    first = text.partition("\n")[0]
    mark = max(",;\t", key=first.count)
    try:
        reader = csv.reader(text.splitlines(), delimiter=mark, strict=True)
        lines = [(reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        raise InputError(f"the table {table} is not a CSV ({error})", "check its quotes") from error
    if len(lines) < 2:
        raise InputError(f"the table {table} is empty", "give it a header and a line a photo")
    return lines


def _columns(table: Path, header: list[str]) -> dict[str, int]:
    names = _headings(header)
    wanted = {"file": _FILE_COLUMNS, "subject": _SUBJECT_COLUMNS, "face": _FACE_COLUMNS}
    found: dict[str, int] = {}
    for what, known in wanted.items():
        at = next((names.index(name) for name in known if name in names), None)
        if at is not None:
            found[what] = at
        elif what != "face":
            raise InputError(
                f"the first line of {table} has no column for the {what} ({', '.join(header)})",
                f"call it {known[0]}",
            )
    return found


def _headings(header: list[str]) -> list[str]:
    return [cell.strip().lower().replace(" ", "_") for cell in header]


def _more_columns(header: list[str], columns: dict[str, int]) -> dict[str, int]:
    """Find the columns that say something else of people: their labels."""
    found: dict[str, int] = {}
    for at, name in enumerate(_headings(header)):
        if name and at not in columns.values():
            found.setdefault(name, at)
    return found


def _index(photos: Sequence[Path]) -> dict[str, list[int]]:
    """Every ending of every photo's path → the photos that end so."""
    index: dict[str, list[int]] = {}
    for number, path in enumerate(photos):
        parts = _whole(path).parts
        for first in range(len(parts)):
            index.setdefault("/".join(parts[first:]).replace("//", "/"), []).append(number)
    return index


def _numbers(table: Path, line: int, file: str, index: dict[str, list[int]]) -> list[int]:
    """Photos that a table's cell means; none if it means a photo that was not given."""
    beside = os.path.normpath(table.absolute().parent / file)
    for name in (beside, file.replace("\\", "/").removeprefix("./")):
        found = index.get(str(name).replace("//", "/"), [])
        if len(found) > 1:
            raise InputError(
                f"line {line} of {table} may mean {len(found)} photos called {file}",
                "write more of the path",
            )
        if found:
            return found
    return []
