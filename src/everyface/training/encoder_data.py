"""What the encoder learns from: people who do not exist, photographed badly.

Codes are drawn wider than the generator's own, since a photo's best code lies outside W. The
portraits are then disturbed as photos are: what changes the scene (colour, light, where the
head stands) changes the wanted image too; what spoils the picture (blur, compression, noise,
something held before the face) only what the encoder sees.

Everything is drawn in batches on the device that trains.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional

from everyface.training.encoder_net import WIDTH

Tensor = Any

LAYERS = 23

PLAIN, MIXED = 0.35, 0.5
"""Shares of the codes with one style, and with styles of several people; the others waver."""

_CUTS = (1, 4, 7, 10, 13, 16)
_TABLE = (
    (16, 11, 10, 16, 24, 40, 51, 61),
    (12, 12, 14, 19, 26, 58, 60, 55),
    (14, 13, 16, 24, 40, 57, 69, 56),
    (14, 17, 22, 29, 51, 87, 80, 62),
    (18, 22, 37, 56, 68, 109, 103, 77),
    (24, 35, 55, 64, 81, 104, 113, 92),
    (49, 64, 78, 87, 103, 121, 120, 101),
    (72, 92, 95, 98, 112, 100, 103, 99),
)
"""JPEG's table for brightness (ITU T.81, Annex K)."""


def codes(mapping: Any, mean: Tensor, n: int) -> Tensor:
    """Draw `n` codes (n, 23, 512).

    A share `PLAIN` has one style; a share `MIXED` takes stretches of layers from several
    people; in the others each layer wavers around the person's style by a part of another's.
    Every layer is pulled to the mean by a factor of its person.
    """
    device = mean.device
    people = mapping(torch.randn(n * 4, WIDTH, device=device)).reshape(n, 4, WIDTH) - mean
    people = people * _between(0.5, 1.0, n, 4, 1, device=device)
    cuts = torch.rand(n, len(_CUTS), device=device) < 0.3
    steps = torch.zeros(n, LAYERS, dtype=torch.long, device=device)
    for number, layer in enumerate(_CUTS):
        steps[:, layer:] += cuts[:, number : number + 1].long()
    kind = torch.rand(n, 1, device=device)
    who = torch.where((kind > PLAIN) & (kind < PLAIN + MIXED), steps % 4, 0)
    styles = torch.gather(people, 1, who[:, :, None].expand(-1, -1, WIDTH))
    waver = torch.gather(
        people, 1, torch.randint(0, 4, (n, LAYERS, 1), device=device).expand(-1, -1, WIDTH)
    )
    part = _between(0.0, 0.45, n, 1, 1, device=device) * (kind > PLAIN + MIXED)[:, :, None]
    return mean + styles * (1 - part / 2) + waver * part


def seen(portraits: Tensor) -> tuple[Tensor, Tensor]:
    """Disturb portraits (n, 3, s, s): return what is seen and what is wanted."""
    wanted = _moved(_lit(_coloured(portraits))).clamp(-1, 1)
    spoilt = _noisy(_compressed(_blurred(_covered(wanted))))
    return spoilt.clamp(-1, 1), wanted


def _between(low: float, high: float, *shape: int, device: Any) -> Tensor:
    return low + (high - low) * torch.rand(*shape, device=device)


def _sometimes(changed: Tensor, x: Tensor, share: float) -> Tensor:
    chosen = torch.rand(len(x), 1, 1, 1, device=x.device) < share
    return torch.where(chosen, changed, x)


def _coloured(x: Tensor) -> Tensor:
    """Change brightness, contrast, saturation, and the colour of the light."""
    n, device = len(x), x.device
    grey = x.mean(dim=1, keepdim=True)
    changed = grey + (x - grey) * _between(0.6, 1.3, n, 1, 1, 1, device=device)
    middle = changed.mean(dim=(1, 2, 3), keepdim=True)
    changed = middle + (changed - middle) * _between(0.75, 1.25, n, 1, 1, 1, device=device)
    changed = changed + _between(-0.2, 0.2, n, 1, 1, 1, device=device)
    tint = torch.exp(0.06 * torch.randn(n, 3, 1, 1, device=device))
    return _sometimes((changed + 1) * tint - 1, x, 0.7)


def _lit(x: Tensor) -> Tensor:
    """Let the light fall off to one side."""
    n, _, height, width = x.shape
    turn = _between(0, 2 * math.pi, n, 1, 1, 1, device=x.device)
    across = torch.linspace(-1, 1, width, device=x.device)[None, None, None, :]
    down = torch.linspace(-1, 1, height, device=x.device)[None, None, :, None]
    fall = across * torch.cos(turn) + down * torch.sin(turn)
    field = torch.exp(_between(0, 0.45, n, 1, 1, 1, device=x.device) * fall)
    return _sometimes((x + 1) * field - 1, x, 0.3)


def _moved(x: Tensor) -> Tensor:
    """Turn, scale and shift by what alignment by points leaves."""
    n, device = len(x), x.device
    turn = 0.015 * torch.randn(n, device=device)
    size = torch.exp(0.015 * torch.randn(n, device=device))
    cos, sin = size * torch.cos(turn), size * torch.sin(turn)
    shift = 0.012 * torch.randn(2, n, device=device)
    rows = [torch.stack([cos, -sin, shift[0]], 1), torch.stack([sin, cos, shift[1]], 1)]
    grid = functional.affine_grid(torch.stack(rows, 1), list(x.shape), align_corners=False)
    moved = functional.grid_sample(
        x, grid.to(x.dtype), padding_mode="reflection", align_corners=False
    )
    return _sometimes(moved, x, 0.6)


def _covered(x: Tensor) -> Tensor:
    """Hold something of one colour before a part of the picture."""
    n, _, height, width = x.shape
    across = torch.linspace(-1, 1, width, device=x.device)[None, None, None, :]
    down = torch.linspace(-1, 1, height, device=x.device)[None, None, :, None]
    at, size = (_between(low, high, 2, n, 1, 1, 1, device=x.device) for low, high in _PATCH)
    inside = ((across - at[0]) / size[0]).square() + ((down - at[1]) / size[1]).square() < 1
    colour = _between(-1, 1, n, 3, 1, 1, device=x.device)
    return _sometimes(torch.where(inside, colour, x), x, 0.1)


_PATCH = ((-0.9, 0.9), (0.08, 0.35))
"""Where the middle of what covers a picture lies, and how large it is, in half sides."""


def _blurred(x: Tensor) -> Tensor:
    """Blur, the whole batch alike: some of it, so that batches hold sharp pictures too."""
    deviation = 0.4 + 2.4 * float(torch.rand(()))
    reach = math.ceil(2.5 * deviation)
    steps = torch.arange(-reach, reach + 1, device=x.device, dtype=x.dtype)
    kernel = torch.exp(-(steps / deviation).square() / 2)
    kernel = (kernel / kernel.sum()).expand(3, 1, -1)
    wide = functional.pad(x, (reach, reach, reach, reach), mode="reflect")
    wide = functional.conv2d(wide, kernel[:, :, None, :], groups=3)
    return _sometimes(functional.conv2d(wide, kernel[:, :, :, None], groups=3), x, 0.4)


def _compressed(x: Tensor) -> Tensor:
    """Round the cosine coefficients of 8 x 8 blocks as JPEG does (T.81, A.3.3 and A.3.4)."""
    n, channels, height, width = x.shape
    base = _cosines(x.device)
    blocks = ((x + 1) * 127.5 - 128).reshape(n, channels, height // 8, 8, width // 8, 8)
    blocks = blocks.transpose(3, 4)
    quality = _between(25, 95, n, 1, 1, 1, 1, 1, device=x.device)
    scale = torch.where(quality < 50, 50 / quality, 2 - quality / 50)
    table = (torch.tensor(_TABLE, device=x.device) * scale).round().clamp_min(1)
    rounded = ((base @ blocks @ base.T) / table).round() * table
    back = (base.T @ rounded @ base).transpose(3, 4).reshape(x.shape)
    return _sometimes((back + 128) / 127.5 - 1, x, 0.5)


def _cosines(device: Any) -> Tensor:
    place = torch.arange(8, device=device, dtype=torch.float32)
    base = torch.cos((2 * place[None] + 1) * place[:, None] * math.pi / 16) / 2
    base[0] /= math.sqrt(2)
    return base


def _noisy(x: Tensor) -> Tensor:
    amount = _between(0, 0.08, len(x), 1, 1, 1, device=x.device)
    return _sometimes(x + amount * torch.randn_like(x), x, 0.4)
