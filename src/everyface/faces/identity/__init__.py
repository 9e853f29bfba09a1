"""Recognisers: who is it, and who looks like whom."""

from __future__ import annotations

import functools
import importlib.util

from everyface.errors import InputError
from everyface.faces.identity.base import Recogniser
from everyface.faces.identity.dlib_resnet import DlibResNet
from everyface.faces.identity.facenet import FaceNet
from everyface.faces.identity.sface import SFace
from everyface.models import policy, registry, store

__all__ = ["RECOGNISERS", "Recogniser", "available", "recogniser"]

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

    SFace and dlib's network need nothing but their weights. FaceNet needs the extra ``facenet``
    and counts only once its weights were pulled, since they are large.
    """
    found = [n for n, r in RECOGNISERS.items() if policy.allowed(registry.entry(r.model))]
    if "facenet" in found and not (
        importlib.util.find_spec("h5py")
        and store.status(FaceNet.model).state is store.State.PRESENT
    ):
        found.remove("facenet")
    return found
