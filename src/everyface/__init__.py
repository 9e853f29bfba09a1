"""Publish face photos in which nobody can be singled out, and prove it.

The whole walk in four calls, on a folder that holds a folder of photos for each person:

>>> import everyface as ef
>>> faces = ef.read(["photos/"], subjects="folder")
>>> release = ef.anonymize(faces, k=5)
>>> release.save("release")
PosixPath('...release')
>>> ef.verify("release").guarantee
'k-anonymous'

The folder ``release`` is what may be published; ``release.private`` beside it is not.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everyface.faces import FaceSet, read
    from everyface.pipeline import Release, anonymize
    from everyface.release import Verified, verify

__version__ = "0.1.0"
__all__ = ["FaceSet", "Release", "Verified", "__version__", "anonymize", "read", "verify"]

_HOMES = {
    "FaceSet": "faces",
    "read": "faces",
    "Release": "pipeline",
    "anonymize": "pipeline",
    "Verified": "release",
    "verify": "release",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: the command line must start quickly."""
    if name not in _HOMES:
        raise AttributeError(f"module 'everyface' has no attribute {name!r}")
    return getattr(import_module(f"everyface.{_HOMES[name]}"), name)
