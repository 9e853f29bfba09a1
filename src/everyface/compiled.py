"""Loops compiled by Numba, and kept on disk where there is a place to keep them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Loop = TypeVar("Loop", bound=Callable[..., object])


def compiled(loop: Loop) -> Loop:
    """Return `loop` compiled, free of the interpreter's lock, without fast mathematics.

    The code is kept for the next process; where neither the installation nor the user's cache
    folder may be written to, it is compiled anew in each.
    """
    import numba

    try:
        made: Loop = numba.njit(cache=True, nogil=True)(loop)
    except RuntimeError:  # no folder to keep the compiled code in
        made = numba.njit(nogil=True)(loop)
    return made
