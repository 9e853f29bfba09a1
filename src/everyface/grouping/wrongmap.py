"""Whether the original nearest to a surrogate is the very person it stands for."""

from __future__ import annotations

import numpy as np

from everyface.arrays import F64, AnyArray, Bool
from everyface.grouping.pool import squared

_BLOCK = 512


def own_nearest(codes: AnyArray, surrogates: AnyArray, source: AnyArray) -> Bool:
    """Tell who breaks the wrong-map of Definition 4.1 (thesis 4.2).

    A wrong-map holds for a person when somebody else's original is strictly nearer to that
    person's surrogate than the person's own original; a tie counts as a breach.

    Parameters
    ----------
    codes
        (n, d) originals, one row a person.
    surrogates
        (m, d) distinct surrogates in the same space.
    source
        Person → row of `surrogates`.

    Returns
    -------
    Bool
        Person → True where nobody else is strictly nearer.
    """
    X: F64 = np.asarray(codes, dtype=np.float64)
    Y: F64 = np.asarray(surrogates, dtype=np.float64)
    centre = X.mean(axis=0)
    moved = X - centre
    sizes = np.square(moved).sum(axis=1)
    least = np.empty(len(Y))
    for start in range(0, len(Y), _BLOCK):
        block = Y[start : start + _BLOCK] - centre
        size = np.square(block).sum(axis=1)[:, None]
        apart = sizes[None, :] - 2.0 * block @ moved.T + size
        slack = 1e-12 * (X.shape[1] + 8) * (sizes.max() + size)
        hopeful = apart <= apart.min(axis=1, keepdims=True) + slack
        for row in range(len(block)):
            least[start + row] = squared(X[hopeful[row]], Y[start + row]).min()
    own: F64 = np.square(X - Y[source]).sum(axis=1)
    breach: Bool = own <= least[source]
    return breach
