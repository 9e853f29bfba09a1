"""What must not stand in a certificate: the seed, and whatever looks like a place on a disk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from everyface.release.breach import Breach

SECRET = re.compile(r"seed|random_?state|pass_?(phrase|word)|user_?name|host_?name|key_?map", re.I)
PLACE = re.compile(
    r"(^|[\s'\"(=])/\w"  # an absolute path
    r"|^~\w*[/\\]|(^|[\s'\"(=/\\])\.\.?[/\\]|\b[a-z]:[\\/](?!/)|\\\\|\bfile:",
    re.I,
)
PICTURE = re.compile(r"\w\.(jpe?g|jpe|png|webp|tiff?|bmp|gif|heic|heif|avif|dng|cr2|nef)\b", re.I)


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
        if SECRET.search(key):
            yield Breach("leak", f"the certificate holds a field {key!r}")
        if isinstance(value, str) and (PLACE.search(value) or PICTURE.search(value)):
            yield Breach("leak", f"the certificate's {key} names a file or folder: {value[:80]!r}")
