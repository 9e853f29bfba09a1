"""What must not stand in a certificate: the seed, and whatever looks like a place on a disk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from everyface.release.breach import Breach

SECRET = re.compile(r"seed|random_?state|pass_?(phrase|word)|user_?name|host_?name|key_?map", re.I)
TOLD = re.compile(r"\b(seed|random_?state|pass_?phrase|password)\b\s*(is|=|:)\s*['\"]?\w*\d", re.I)
_BEFORE = r"(^|[\s'\"(=,;:\[{<>|])"
PLACE = re.compile(
    rf"{_BEFORE}/\w"  # an absolute path
    rf"|{_BEFORE}~\w*[/\\]|(^|[\s'\"(=/\\])\.\.?[/\\]|\b[a-z]:[\\/](?!/)|\\\\|\bfile:",
    re.I,
)
PICTURE = re.compile(
    r"\w\.(jpe?g|jpe|jfif|mpo|png|webp|tiff?|bmp|gif|heic|heif|avif|jxl|jp2|dng|cr2|cr3|nef|arw"
    r"|orf|raf|rw2|mp4|mov|avi|mkv)\b",
    re.I,
)


def strings(data: object) -> Iterator[str]:
    """Yield every key and every text in `data`."""
    for key, value in walk(data):
        yield key
        if isinstance(value, str):
            yield value


def walk(data: object) -> Iterator[tuple[str, object]]:
    """Yield every (key, value) in `data`; the entries of a list go under the list's key."""
    open_nodes: list[tuple[str, object]] = [("", data)]
    while open_nodes:
        key, value = open_nodes.pop()
        yield key, value
        if isinstance(value, dict):
            open_nodes.extend((str(name), inner) for name, inner in value.items())
        elif isinstance(value, list | tuple):
            open_nodes.extend((key, inner) for inner in value)


def leaks(data: dict[str, Any]) -> Iterator[Breach]:
    """Find secrets in the certificate; the names of the released files are not secrets."""
    free = {key: value for key, value in data.items() if key not in ("files", "groups")}
    for key, value in walk(free):
        if SECRET.search(key) or _names_a_file(key):
            yield Breach("leak", f"the certificate holds a field {key[:80]!a}")
        if isinstance(value, str) and (_names_a_file(value) or TOLD.search(value)):
            what = f"{key[:80]!a} says what must stay private: {value[:80]!a}"
            yield Breach("leak", f"the certificate's {what}")


def _names_a_file(text: str) -> bool:
    return bool(PLACE.search(text) or PICTURE.search(text))
