"""Principal components of vectors far longer than there are of them (thesis Eq. 3.1-3.6)."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import threadpoolctl

from everyface.arrays import F32, AnyArray

BLOCK = 64


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let products of matrices run on one thread inside, also as a decorator.

    How many threads share a sum decides where it is rounded, so that the same faces would get
    other bytes on another machine. For matrices as narrow as these, one thread is no slower.
    OpenBLAS heeds the limit when it is set from the main thread; a walk in another thread ends in
    bytes of its own, the same each time.
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield


@functools.cache
def _controller() -> threadpoolctl.ThreadpoolController:
    return threadpoolctl.ThreadpoolController()


@dataclass(frozen=True)
class Components:
    """A mean and an orthonormal basis.

    Attributes
    ----------
    mean
        (d,).
    basis
        (k, d), rows orthonormal, most variance first.
    variances
        (k,): the eigenvalues λ of the covariance.
    """

    mean: F32
    basis: F32
    variances: F32

    def project(self, vectors: F32) -> F32:
        """Eq. 3.8b and 3.9b: parameters of each row, the same whatever rows are beside it."""
        held = np.empty((len(vectors), len(self.basis)), np.float32)
        for row, vector in zip(held, vectors, strict=True):
            row[:] = (vector - self.mean) @ self.basis.T
        return held

    def rebuild(self, parameters: F32) -> F32:
        """Eq. 3.8a and 3.9a: the vectors that parameters stand for, row by row."""
        held = np.empty((len(parameters), len(self.mean)), np.float32)
        for row, code in zip(held, parameters, strict=True):
            row[:] = code @ self.basis + self.mean
        return held


def principal(rows: AnyArray, most: int) -> Components:
    """Find the components of `rows`, (n, d), through their n × n Gram matrix.

    The covariance of Eq. 3.1 would be d × d; its eigenvectors are found in the span of the rows
    instead (Turk and Pentland's trick), reading `rows` block by block, so that they may lie on
    disk in half precision.
    """
    n, d = rows.shape
    blocks = [slice(i, min(i + BLOCK, n)) for i in range(0, n, BLOCK)]
    total = np.zeros(d)
    for block in blocks:
        total += rows[block].sum(axis=0, dtype=np.float64)
    mean = np.asarray(total / n, np.float32)
    gram = np.zeros((n, n))
    for i, one in enumerate(blocks):
        left = rows[one].astype(np.float32) - mean
        for other in blocks[: i + 1]:
            gram[one, other] = left @ (rows[other].astype(np.float32) - mean).T
            gram[other, one] = gram[one, other].T
    values, vectors = np.linalg.eigh(gram)
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = int(min(n - 1, most, (values > 1e-6 * max(values[0], 1e-12)).sum()))
    mix = (vectors[:, :kept] / np.sqrt(values[:kept])).astype(np.float32)
    basis = np.zeros((kept, d), np.float32)
    for block in blocks:
        basis += mix[block].T @ (rows[block].astype(np.float32) - mean)
    return Components(mean, _signed(basis), np.asarray(values[:kept] / (n - 1), np.float32))


def _signed(basis: F32) -> F32:
    """Fix each row's sign by its largest entry, which the eigenvectors leave open."""
    if not len(basis):
        return basis
    peak = np.abs(basis).argmax(axis=1)
    sign = np.sign(basis[np.arange(len(basis)), peak])
    return np.asarray(basis * sign[:, None], np.float32)
