"""The contact sheet: who went in, who came out, on one page that any browser opens.

The page is a single file without script or outside links, so that it can be mailed or archived.
It shows originals beside what stands for them, which is the key of a release: that is why it is
made for people who do not exist, and says so.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import cv2
import jinja2
import numpy as np

from everyface.arrays import U8
from everyface.files import write_bytes

THUMB = 256
"""Longer side of a picture on the page, in pixels."""

_GOLDEN_ANGLE = 137.508  # consecutive groups get hues far apart, however many there are
_TEMPLATE = "sheet.html.j2"


@dataclass(frozen=True)
class Row:
    """One person: their photos (h, w, 3) RGB, and what was released for each.

    A photo that was held back stands as None among the released.
    """

    group: int
    caption: str
    originals: Sequence[U8]
    released: Sequence[U8 | None]


@dataclass(frozen=True)
class Figure:
    """One measured number of the run, as it is to be read, and what it means."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Summary:
    """What the head of the page says; every figure comes from the run that made the rows.

    Attributes
    ----------
    title
        Heading of the page.
    k
        The least number of people that share a face.
    guarantees
        Form of release → its guarantee, as its certificate names it.
    figures
        What was measured.
    notes
        Sentences for the foot of the page, for instance what lowered a guarantee.
    """

    title: str
    k: int
    guarantees: Mapping[str, str]
    figures: Sequence[Figure] = ()
    notes: Sequence[str] = ()


def sheet(
    rows: Sequence[Row], summary: Summary, out: Path, shared: Mapping[int, U8] | None = None
) -> Path:
    """Write the page to `out` and return it.

    Parameters
    ----------
    rows
        One a person; they are shown group by group.
    summary
        The head of the page.
    out
        The HTML file.
    shared
        Group → the aligned face that all its people share, shown at the head of the group.
    """
    faces = shared or {}
    ordered = sorted(rows, key=lambda row: (row.group, row.caption))
    groups = [
        _Group(number, _inline(faces[number]) if number in faces else None, tuple(people))
        for number, people in groupby(ordered, key=lambda row: row.group)
    ]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["inline"] = _inline
    page = environment.get_template(_TEMPLATE).render(
        summary=summary, groups=groups, people=len(rows)
    )
    write_bytes(out, page.encode("utf-8"))
    return out


@dataclass(frozen=True)
class _Group:
    number: int
    face: str | None
    rows: tuple[Row, ...]

    @property
    def hue(self) -> int:
        return round(self.number * _GOLDEN_ANGLE) % 360


def _inline(image: U8) -> str:
    """Return a picture as a JPEG data URI, its longer side at most `THUMB`."""
    height, width = image.shape[:2]
    scale = min(1.0, THUMB / max(height, width))
    if scale < 1.0:
        small = (max(1, round(width * scale)), max(1, round(height * scale)))
        image = np.asarray(cv2.resize(image, small, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    _, data = cv2.imencode(
        ".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 86]
    )
    return "data:image/jpeg;base64," + base64.b64encode(data.tobytes()).decode("ascii")
