"""Reading OpenVINO's intermediate representation: a graph in XML, and its constants' bytes.

Nothing is executed: the XML says which operation feeds which, the other file is raw numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from everyface.arrays import AnyArray
from everyface.errors import ModelError

_TYPES = {"f32": "<f4", "f16": "<f2", "i64": "<i8", "i32": "<i4"}


@dataclass(frozen=True)
class Graph:
    """Operations by their number in the file.

    Attributes
    ----------
    kinds
        Number → kind of the operation.
    names
        Name → number.
    sources, users
        Number → numbers of those that feed it, in the order of its inputs; of those it feeds.
    constants
        Number → values.
    """

    kinds: Mapping[int, str]
    names: Mapping[str, int]
    sources: Mapping[int, Sequence[int]]
    users: Mapping[int, Sequence[int]]
    constants: Mapping[int, AnyArray]

    def constant(self, name: str) -> AnyArray:
        """Return the constant of that name."""
        try:
            return self.constants[self.names[name]]
        except KeyError:
            raise _foreign(f"it has no constant {name}") from None

    def user(self, number: int, kind: str) -> int:
        """Return the one operation of this kind that `number` feeds."""
        found = [user for user in self.users[number] if self.kinds[user] == kind]
        if len(found) != 1:
            raise _foreign(f"{len(found)} of {kind} read operation {number}")
        return found[0]

    def operand(self, number: int) -> AnyArray:
        """Return the one constant among the inputs of `number`."""
        found = [self.constants[s] for s in self.sources[number] if s in self.constants]
        if len(found) != 1:
            raise _foreign(f"operation {number} reads {len(found)} constants")
        return found[0]


def read(path: Path) -> Graph:
    """Read ``path`` (.xml) and the file of numbers beside it (.bin)."""
    root = ElementTree.parse(path).getroot()  # noqa: S314 - its SHA-256 is the published one
    layers, edges = root.find("layers"), root.find("edges")
    if layers is None or edges is None:
        raise _foreign(f"{path.name} holds no graph")
    data = path.with_suffix(".bin").read_bytes()
    kinds, names, constants = {}, {}, {}
    for layer in layers:
        number = int(layer.attrib["id"])
        kinds[number] = layer.attrib["type"]
        names[layer.attrib["name"]] = number
        if kinds[number] == "Const":
            constants[number] = _values(layer, data)
    wires: dict[int, list[tuple[int, int]]] = defaultdict(list)
    users: dict[int, list[int]] = defaultdict(list)
    for edge in edges:
        start, end = int(edge.attrib["from-layer"]), int(edge.attrib["to-layer"])
        wires[end].append((int(edge.attrib["to-port"]), start))
        users[start].append(end)
    sources = {number: [start for _, start in sorted(found)] for number, found in wires.items()}
    return Graph(kinds, names, sources, users, constants)


def _values(layer: ElementTree.Element, data: bytes) -> AnyArray:
    held = layer.find("data")
    if held is None or held.attrib["element_type"] not in _TYPES:
        raise _foreign(f"the constant {layer.attrib['name']} is of an unknown type")
    kind = np.dtype(_TYPES[held.attrib["element_type"]])
    shape = [int(size) for size in held.attrib["shape"].split(",") if size.strip()]
    start, size = int(held.attrib["offset"]), int(held.attrib["size"])
    if start + size > len(data):
        raise _foreign("its file of numbers is too short")
    return np.frombuffer(data, kind, size // kind.itemsize, start).reshape(shape)


def _foreign(why: str) -> ModelError:
    return ModelError(f"this is not the generator's graph: {why}", "pull its model again")
