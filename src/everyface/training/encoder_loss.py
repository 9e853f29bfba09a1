"""What the encoder's codes and images are held to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from everyface.training.encoder_net import SIDE
from everyface.training.encoder_weights import Frozen

Tensor = Any

WEIGHTS = {"pixels": 1.0, "lpips": 0.8, "identity": 0.6}
CODE, CODE_LATER = 1.0, 0.15
"""Weight of the distance in W+: alone at first, and beside the images."""

_CENTRE, _RADII, _OUTSIDE = (0.5, 0.52), (0.42, 0.5), 0.25


@dataclass(frozen=True)
class Losses:
    """Compares codes and images on one device.

    Attributes
    ----------
    frozen
        The networks that judge.
    variance
        Mean variance of one number of a style, so that the code's loss does not hang on its scale.
    place
        (1, 1, 256, 256): how much each place counts; the head more than what is around it.
    """

    frozen: Frozen
    variance: float
    place: Tensor

    @classmethod
    def make(cls, frozen: Frozen, mean: Tensor) -> Losses:
        """Measure what has to be measured."""
        with torch.no_grad():
            styles = frozen.mapping(torch.randn(4096, len(mean), device=mean.device))
        return cls(frozen, (styles - mean).square().mean().item(), head(mean.device))

    def code(self, found: Tensor, true: Tensor) -> Tensor:
        """Return the mean squared distance in W+, 1 for always the mean style."""
        return (found - true).square().mean() / self.variance

    def images(self, painted: Tensor, wanted: Tensor) -> dict[str, Tensor]:
        """Return the mean of every loss between images (n, 3, 256, 256)."""
        away = (painted - wanted).square() * self.place
        vgg, dtype = self.frozen.vgg, self.frozen.vgg.mean.dtype
        lpips = vgg.lpips(painted.to(dtype), wanted.to(dtype), self.place)
        return {
            "pixels": away.mean() / self.place.mean(),
            "lpips": lpips.mean(),
            "identity": 1 - self.alike(painted, wanted).mean(),
        }

    def alike(self, a: Tensor, b: Tensor) -> Tensor:
        """Return the cosines of the recogniser's vectors of pairs of portraits, (n,)."""
        cut, sface = self.frozen.cut, self.frozen.sface
        with torch.no_grad():
            held = sface(cut(b))
        return torch.cosine_similarity(sface(cut(a)), held)


def head(device: Any) -> Tensor:
    """Return a soft ellipse over the head of an aligned portrait, 1 inside."""
    steps = (torch.arange(SIDE, device=device, dtype=torch.float32) + 0.5) / SIDE
    across = ((steps - _CENTRE[0]) / _RADII[0]).square()
    down = ((steps - _CENTRE[1]) / _RADII[1]).square()
    inside = torch.exp(-(down[:, None] + across[None]).square())
    return (_OUTSIDE + (1 - _OUTSIDE) * inside)[None, None]
