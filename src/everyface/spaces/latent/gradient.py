"""The papers' inversion: a code in W+ changed step by step until it paints the photo.

MIKU 2019 (Eq. 1 and 2) and 2020 (Eq. 2 and 3), after Abdal et al. 2019: the squares between the
pixels of photo and image, and between their features in four layers of VGG-16, are made small by
gradient descent over W+, with the background left out. The papers leave open the weight of the
features, the descent, and where it starts; here the features weigh `PERCEPT`, the descent is
Adam with a rate that falls to nothing, and it starts from the mean style or from a given code.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import cv2
import numpy as np
import torch

from everyface.arrays import F32, U8
from everyface.errors import InputError
from everyface.models import store
from everyface.progress import Tick, silent
from everyface.spaces.latent.nets.perceptual import MIKU, Vgg, perceptual
from everyface.spaces.latent.nets.synthesis import Synthesis, everywhere

Tensor = Any

SIDE = 256
"""Side at which photo and image are compared: VGG-16 was trained on faces of about this size."""

PERCEPT = 0.02
"""Weight of the features beside the pixels: both are then about as large at the mean face."""

_BETAS = (0.9, 0.99)


class Descent:
    """Finds codes by gradients.

    Parameters
    ----------
    steps
        Steps of the descent.
    rate
        Its greatest rate, in units of W.
    side
        Side at which photo and image are compared.
    device
        Where PyTorch computes.
    """

    def __init__(
        self, steps: int = 80, rate: float = 0.06, side: int = SIDE, device: str = "cpu"
    ) -> None:
        if steps < 1:
            raise InputError(f"a descent of {steps} steps was asked for", "ask for 1 or more")
        self.steps, self.rate, self.side, self.device = steps, rate, side, device

    def run(self, crops: U8, weights: F32, start: F32, tick: Tick = silent) -> F32:
        """Return codes (n, 23, 512) that paint aligned photos.

        A face's code does not depend on which others are inverted beside it.

        Parameters
        ----------
        crops
            (n, h, h, 3) RGB, in the `FACE` frame.
        weights
            (n, h, h): how much each place counts; 0 for background.
        start
            (n, 23, 512) or (n, 512): where the descent starts.
        tick
            Hears how far the work is.
        """
        codes = everywhere(np.asarray(start, np.float32))
        found = np.empty(tuple(codes.shape), np.float32)
        for row, crop in enumerate(crops):
            tick("inverting", row, len(crops))
            found[row] = self._one(crop, weights[row], codes[row])
        tick("inverting", len(crops), len(crops))
        return found

    def _one(self, crop: U8, weight: F32, start: Tensor) -> F32:
        synthesis, vgg = _networks(self.device)
        photo = self._tensor(crop).permute(2, 0, 1)[None] / 127.5 - 1
        place = self._tensor(weight)[None, None]
        place = place / place.mean().clamp_min(1e-6)
        with torch.no_grad():
            wanted = vgg.features(photo, MIKU)
        code = start[None].to(self.device).clone().requires_grad_()
        descent = torch.optim.Adam([code], self.rate, betas=_BETAS)
        for step in range(self.steps):
            descent.param_groups[0]["lr"] = self.rate * _falling(step / self.steps)
            image = synthesis(code, self.side)
            loss = ((image - photo).square() * place).mean()
            loss = loss + PERCEPT * perceptual(vgg, image, wanted, place).sum()
            descent.zero_grad()
            loss.backward()
            descent.step()
        return np.asarray(code.detach().cpu().numpy()[0], np.float32)

    def _tensor(self, values: U8 | F32) -> Tensor:
        small = cv2.resize(values, (self.side, self.side), interpolation=cv2.INTER_AREA)
        return torch.from_numpy(small.astype(np.float32)).to(self.device)


def _falling(done: float) -> float:
    """Return the rate's factor: up over the first twentieth, then down along a cosine."""
    return min(1.0, 0.1 + done * 18) * (1 + math.cos(math.pi * done)) / 2


@functools.cache
def _networks(device: str) -> tuple[Synthesis, Vgg]:
    synthesis = Synthesis.read(store.fetch("stylegan_synthesis")).to(device)
    return synthesis, Vgg.read(store.fetch("vgg16_lpips")).to(device)
