"""Codes are found by gradients, on networks small enough to run at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from everyface.errors import InputError

torch = pytest.importorskip("torch")

from everyface.spaces.latent import gradient  # noqa: E402

SIDE = 16


class Halves(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Paints the left half in the first numbers of layer 0, the right in those of layer 22."""

    def forward(self, styles: Any, side: int) -> Any:
        halves = [
            torch.tanh(styles[:, layer, :3, None, None]).expand(-1, -1, side, side // 2)
            for layer in (0, 22)
        ]
        return torch.cat(halves, dim=3)


class Features:
    """Sees squares of the colours, which differ from the pixels' distance."""

    def features(self, images: Any, _names: Any) -> list[Any]:
        return [10 * images.square()]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    held = (Halves(), Features())
    monkeypatch.setattr(gradient, "_networks", lambda _device: held)


def photos() -> Any:
    colours = np.random.default_rng(1).integers(40, 215, (2, 1, 1, 3)).astype(np.uint8)
    return np.ascontiguousarray(np.broadcast_to(colours, (2, SIDE, SIDE, 3)))


def painted(codes: Any) -> Any:
    return (Halves()(torch.from_numpy(codes), SIDE).permute(0, 2, 3, 1).numpy() + 1) * 127.5


def ones() -> Any:
    return np.ones((2, SIDE, SIDE), np.float32)


def start_codes() -> Any:
    return np.zeros((2, 23, 512), np.float32)


def test_the_code_paints_the_photo() -> None:
    found = gradient.Descent(80, 0.25, SIDE).run(photos(), ones(), np.zeros((2, 512), np.float32))
    assert found.shape == (2, 23, 512)
    assert np.abs(painted(start_codes()) - photos()).max() > 30
    assert np.abs(painted(found) - photos()).max() < 8


def test_the_features_count_beside_the_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [gradient.Descent(5, 0.1, SIDE).run(photos(), ones(), start_codes())]
    monkeypatch.setattr(gradient, "PERCEPT", 0.0)
    found.append(gradient.Descent(5, 0.1, SIDE).run(photos(), ones(), start_codes()))
    assert not np.array_equal(*found)


def test_the_background_is_left_out() -> None:
    weights = ones()
    weights[:, :, SIDE // 2 :] = 0
    found = gradient.Descent(80, 0.25, SIDE).run(photos(), weights, start_codes())
    assert np.abs(painted(found) - photos())[:, :, : SIDE // 2].max() < 8
    assert np.array_equal(found[:, 22], start_codes()[:, 22])


def test_a_code_does_not_depend_on_the_others() -> None:
    weights = ones()
    descent = gradient.Descent(5, 0.1, SIDE)
    both = descent.run(photos(), weights, start_codes())
    alone = descent.run(photos()[1:], weights[1:], start_codes()[1:])
    assert np.array_equal(both[1:], alone)
    assert not np.array_equal(both[0], both[1])


def test_the_start_is_left_as_it_was() -> None:
    start = start_codes()
    gradient.Descent(2, 0.1, SIDE).run(photos(), ones(), start)
    assert not start.any()


def test_no_steps_are_refused() -> None:
    with pytest.raises(InputError, match="0 steps"):
        gradient.Descent(0)
