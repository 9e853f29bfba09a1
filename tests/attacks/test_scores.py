from __future__ import annotations

import numpy as np
import pytest

from everyface.attacks.scores import Share


def test_interval_agrees_with_tables() -> None:
    low, high = Share(2, 10).interval()
    assert (low, high) == pytest.approx((0.0252, 0.5561), abs=1e-4)


def test_interval_at_the_ends_stays_inside() -> None:
    assert Share(0, 30).interval()[0] == 0
    assert Share(30, 30).interval()[1] == 1
    assert Share(0, 30).interval()[1] == pytest.approx(1 - 0.025 ** (1 / 30), abs=1e-9)


def test_interval_covers_a_planted_rate_at_least_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    drawn = rng.binomial(60, 0.2, size=2000)
    inside = [low <= 0.2 <= high for low, high in (Share(int(h), 60).interval() for h in drawn)]
    assert np.mean(inside) >= 0.95


def test_an_empty_total_has_no_share() -> None:
    assert Share(0, 0).value == 0
