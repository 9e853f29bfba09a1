"""The encoder: a portrait, and what the generator paints of it so far, to a step in W+.

It is used in rounds, as in ReStyle (Alaluf et al. 2021): the first round sees the photo beside the
mean face and gives a whole code; a further round sees the photo beside the image of the code so
far and mends it. One network learns all rounds.

The trunk is a residual network (He et al. 2016) whose normalisations fold into the convolutions.
Three heads, at 8, 16 and 32 px, give the coarse, middle and fine styles (as in pSp, Richardson et
al. 2021), each through a narrow layer: one style's 512 numbers for each place.
"""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import nn
from torch.nn import functional

Tensor = Any

SIDE = 256
"""Side of the portraits that the encoder reads."""

WIDTH = 512

GROUPS = ((0, 7), (7, 13), (13, 23))
"""First layer of coarse, middle and fine styles, and the one after the last."""

_STAGES = ((64, 2), (128, 3), (256, 4), (384, 2))
_GRID, _HELD, _NARROW = 4, 192, 384


def _normalised(into: int, out: int, window: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(into, out, window, stride, window // 2, bias=False), nn.BatchNorm2d(out)
    )


class Residual(nn.Module):  # type: ignore[misc]
    """Two convolutions beside a short cut."""

    def __init__(self, into: int, out: int, stride: int) -> None:
        super().__init__()
        self.first = _normalised(into, out, 3, stride)
        self.second = _normalised(out, out, 3)
        self.short = _normalised(into, out, 1, stride) if stride > 1 or into != out else None
        nn.init.zeros_(self.second[1].weight)

    def forward(self, x: Tensor) -> Tensor:
        """Convolve features."""
        short = x if self.short is None else self.short(x)
        return functional.relu(short + self.second(functional.relu(self.first(x))))


class Head(nn.Module):  # type: ignore[misc]
    """Features of any side to a few styles."""

    def __init__(self, into: int, styles: int) -> None:
        super().__init__()
        self.styles = styles
        self.narrow = _normalised(into, _HELD, 3)
        self.squeeze = nn.Linear(_HELD * _GRID * _GRID, _NARROW)
        self.out = nn.Linear(_NARROW, styles * WIDTH)
        nn.init.normal_(self.out.weight, std=0.002)
        nn.init.zeros_(self.out.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return styles (n, styles, 512)."""
        x = functional.relu(self.narrow(x))
        x = functional.avg_pool2d(x, x.shape[-1] // _GRID).flatten(1)
        x = functional.leaky_relu(self.squeeze(x), 0.2)
        return self.out(x).reshape(-1, self.styles, WIDTH)


class Encoder(nn.Module):  # type: ignore[misc]
    """Portraits (n, 6, 256, 256) to steps (n, 23, 512)."""

    def __init__(self) -> None:
        super().__init__()
        stem = _STAGES[0][0]
        self.stem = nn.Sequential(
            _normalised(6, stem // 2, 3, 2),
            nn.ReLU(),
            _normalised(stem // 2, stem, 3, 2),
            nn.ReLU(),
        )
        self.stages, into = nn.ModuleList(), stem
        for number, (out, blocks) in enumerate(_STAGES):
            stage = [Residual(into, out, 2 if number else 1)]
            stage += [Residual(out, out, 1) for _ in range(blocks - 1)]
            self.stages.append(nn.Sequential(*stage))
            into = out
        deep = [channels for channels, _ in _STAGES[:0:-1]]
        self.down = nn.ModuleList(
            nn.Conv2d(above, out, 1) for above, out in itertools.pairwise(deep)
        )
        self.heads = nn.ModuleList(
            Head(into, end - first) for into, (first, end) in zip(deep, GROUPS, strict=True)
        )

    def forward(self, pair: Tensor) -> Tensor:
        """Return what to add to the code so far.

        Parameters
        ----------
        pair
            The photo's three colours, then those of the image so far, in -1 … 1.
        """
        x, held = self.stem(pair), []
        for stage in self.stages:
            x = stage(x)
            held.append(x)
        seen = held[-1]
        steps = [self.heads[0](seen)]
        for number, (down, head) in enumerate(zip(self.down, self.heads[1:], strict=True)):
            above = functional.interpolate(down(seen), scale_factor=2.0, mode="nearest")
            seen = held[-2 - number] + above
            steps.append(head(seen))
        return torch.cat(steps, dim=1)
