"""Results become files on disk: written, certified, signed, and checked by a stranger."""

from everyface.release.draft import Draft, Item, Settings
from everyface.release.places import work_folder
from everyface.release.private import read_key_map
from everyface.release.signer import Signer
from everyface.release.verification import Verified, verify
from everyface.release.writer import write

__all__ = [
    "Draft",
    "Item",
    "Settings",
    "Signer",
    "Verified",
    "read_key_map",
    "verify",
    "work_folder",
    "write",
]
