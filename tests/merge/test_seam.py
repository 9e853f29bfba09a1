"""The correction that takes the seam away is that of Poisson cloning (thesis, Eq. 6.3)."""

import numpy as np
import pytest

from everyface.merge.membrane import FREE, KNOWN, OUTSIDE, solve


def framed(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A square whose edge is known and whose inside is free."""
    kind = np.full(values.shape[:2], FREE, np.uint8)
    kind[0] = kind[-1] = KNOWN
    kind[:, 0] = kind[:, -1] = KNOWN
    return values.astype(np.float32), kind


def laplacian(field: np.ndarray) -> np.ndarray:
    inside = field[1:-1, 1:-1]
    around = field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:]
    return around - 4 * inside


def test_the_correction_is_harmonic_and_meets_the_edge():
    rng = np.random.default_rng(0)
    field, kind = framed(rng.uniform(-1, 1, (30, 40, 3)))
    found = solve(field, kind)
    np.testing.assert_array_equal(found[kind == KNOWN], field[kind == KNOWN])
    assert np.abs(laplacian(found)).max() < 2e-3


def test_a_picture_plus_its_correction_is_cloned():
    """Δf = Δg inside and f = f* on the edge: Eq. 6.3 solved directly, as one linear system."""
    rng = np.random.default_rng(1)
    size = 12
    source, target = rng.uniform(0, 1, (2, size, size, 1))
    field, kind = framed(target - source)
    cloned = source + solve(field, kind)
    free = [(y, x) for y in range(1, size - 1) for x in range(1, size - 1)]
    at = {cell: row for row, cell in enumerate(free)}
    matrix, right = np.zeros((len(free), len(free))), laplacian(source).ravel().copy()
    for (y, x), row in at.items():
        matrix[row, row] = -4
        for cell in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
            if cell in at:
                matrix[row, at[cell]] = 1
            else:
                right[row] -= target[cell][0]
    expected = np.linalg.solve(matrix, right).reshape(size - 2, size - 2)
    np.testing.assert_allclose(cloned[1:-1, 1:-1, 0], expected, atol=2e-3)


def test_a_free_edge_says_nothing():
    """With the left edge known and the others outside, the known value holds everywhere."""
    kind = np.full((20, 20), FREE, np.uint8)
    kind[:, 0] = KNOWN
    kind[0, 1:] = kind[-1, 1:] = OUTSIDE
    field = np.full((20, 20, 1), 99.0, np.float32)
    field[:, 0] = 0.7
    found = solve(field, kind, rounds=3000)
    np.testing.assert_allclose(found[1:-1, 1:, 0], 0.7, atol=5e-3)


@pytest.mark.parametrize("decay", [0.005, 0.017, 0.1])
def test_a_decaying_correction_fades_inwards(decay):
    """Δc = decay · c: beside a long edge c falls as exp(−√decay · distance)."""
    kind = np.full((9, 80), FREE, np.uint8)
    kind[:, 0] = KNOWN
    field = np.ones((9, 80, 1), np.float32)
    found = solve(field, kind, decay, rounds=5000)[4, :, 0]
    rate = np.arccosh(1 + decay / 2)
    np.testing.assert_allclose(found[:20], np.exp(-rate * np.arange(20)), atol=0.02)
