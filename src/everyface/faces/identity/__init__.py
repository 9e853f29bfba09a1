"""Recognisers: who is it, and who looks like whom."""

from __future__ import annotations

import functools
import importlib.util

import numpy as np

from everyface.arrays import F32
from everyface.errors import InputError
from everyface.faces.align import crop_points
from everyface.faces.faceset import FaceSet
from everyface.faces.identity.base import Recogniser
from everyface.faces.identity.dlib_resnet import DlibResNet
from everyface.faces.identity.facenet import FaceNet
from everyface.faces.identity.sface import SFace
from everyface.models import policy, registry, store
from everyface.progress import Tick, silent

__all__ = ["RECOGNISERS", "Recogniser", "available", "embedded", "recogniser"]

RECOGNISERS: dict[str, type[Recogniser]] = {r.name: r for r in (SFace, DlibResNet, FaceNet)}


@functools.cache
def recogniser(name: str) -> Recogniser:
    """Return a recogniser by name; its weights are fetched when it is first used."""
    try:
        return RECOGNISERS[name]()
    except KeyError:
        known = ", ".join(RECOGNISERS)
        raise InputError(
            f"there is no recogniser named {name!r}", f"choose one of {known}"
        ) from None


def available() -> list[str]:
    """Name the recognisers that can be used here, the one that is always there first.

    SFace and dlib's network need nothing but their weights. FaceNet needs the package
    h5py and counts only once its weights were pulled, since they are large.
    """
    found = [n for n, r in RECOGNISERS.items() if policy.allowed(registry.entry(r.model))]
    if "facenet" in found and not (
        importlib.util.find_spec("h5py")
        and store.status(FaceNet.model).state is store.State.PRESENT
    ):
        found.remove("facenet")
    return found


def embedded(faces: FaceSet, name: str, tick: Tick = silent) -> F32:
    """Return one vector a face by the recogniser `name`; each set is embedded once."""
    if name not in faces.vectors:
        found: list[F32] = []
        for block in list(faces.blocks()) or [faces]:
            done = sum(map(len, found))
            tick(f"recognising ({name})", done, len(faces))
            found.append(recogniser(name).embed(block.crops[:], crop_points(block)))
        tick(f"recognising ({name})", len(faces), len(faces))
        faces.vectors[name] = np.concatenate(found)
    return faces.vectors[name]
