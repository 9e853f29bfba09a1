"""The array types that travel between rooms."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]
Bool = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]


def as_f32(values: AnyArray) -> F32:
    """Return `values` as float32, without a copy where they are that already."""
    return np.asarray(values, np.float32)
