"""SFace in PyTorch, for losses that keep the person: its ONNX file read layer by layer.

The network is a plain chain (MobileNet: Howard et al. 2017), each convolution followed by a
normalisation, which is folded into it, and a rectifier.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from everyface.arrays import F64, AnyArray
from everyface.errors import ModelError

Tensor = Any

SIDE = 112

_PLAN = (
    ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2))
    + ((512, 1),) * 5
    + ((1024, 2), (1024, 1))
)
"""Channels and stride of each pair of a depthwise and a pointwise convolution."""


class SFaceNet(nn.Module):  # type: ignore[misc]
    """RGB faces (n, 3, 112, 112), 0 … 255, to vectors (n, 128)."""

    def __init__(self) -> None:
        super().__init__()
        layers = [nn.Conv2d(3, 32, 3, padding=1)]
        into = 32
        for out, stride in _PLAN:
            layers.append(nn.Conv2d(into, into, 3, stride, 1, groups=into))
            layers.append(nn.Conv2d(into, out, 1))
            into = out
        self.layers = nn.ModuleList(layers)
        self.slopes = nn.ParameterList(torch.zeros(layer.out_channels) for layer in layers)
        self.last = nn.Linear(into * 7 * 7, 128)
        self.register_buffer("shift", torch.zeros(()))
        self.register_buffer("gain", torch.ones(()))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Take the weights from the ONNX file."""
        made, file = cls(), _File(path)
        made.shift.fill_(file.next("Sub")[0].item())
        made.gain.fill_(file.next("Mul")[0].item())
        for layer, slope in zip(made.layers, made.slopes, strict=True):
            (weight,) = file.next("Conv")
            gain, shift = file.normalisation()
            _set(layer.weight, weight * gain[:, None, None, None])
            _set(layer.bias, shift)
            _set(slope, file.next("PRelu")[0].reshape(-1))
        gain, shift = file.normalisation()
        weight, bias = file.next("Gemm")
        wide = weight.reshape(128, len(gain), -1).astype(np.float64)
        bias = bias + (wide * shift[:, None]).sum(axis=(1, 2))
        weight = (wide * gain[:, None]).reshape(128, -1)
        gain, shift = file.normalisation()
        _set(made.last.weight, weight * gain[:, None])
        _set(made.last.bias, bias * gain + shift)
        made.requires_grad_(requires_grad=False).eval()
        return made

    def forward(self, faces: Tensor) -> Tensor:
        """Embed faces."""
        x = (faces - self.shift) * self.gain
        for layer, slope in zip(self.layers, self.slopes, strict=True):
            x = functional.prelu(layer(x), slope)
        return self.last(x.flatten(1))


class Cut:
    """Cuts the recogniser's square out of aligned portraits.

    Where the eyes and mouth of a portrait lie is nearly the same in all of them, so one
    similarity serves them all.

    Parameters
    ----------
    matrix
        (2, 3): pixels of a portrait of `side` px to pixels of the recogniser's square.
    side
        Side that the matrix is meant for; portraits of other sides are scaled.
    """

    def __init__(self, matrix: AnyArray, side: int) -> None:
        back = np.linalg.inv(np.vstack([np.asarray(matrix, np.float64), [0, 0, 1]]))
        double = 2 * SIDE
        steps = (np.arange(double) - 0.5) / 2
        x, y = np.meshgrid(steps, steps)
        places = back[:2] @ np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
        grid = ((2 * places + 1) / side - 1).T.reshape(1, double, double, 2)
        self._grid = torch.from_numpy(grid.astype(np.float32))

    def __call__(self, images: Tensor) -> Tensor:
        """Take portraits (n, 3, h, h) in -1 … 1 to faces (n, 3, 112, 112) in 0 … 255."""
        grid = self._grid.to(images).expand(len(images), -1, -1, -1)
        large = functional.grid_sample(images, grid, padding_mode="border", align_corners=False)
        return (functional.avg_pool2d(large, 2) + 1) * 127.5


class _File:
    """The weights of an ONNX chain, taken in order."""

    def __init__(self, path: Path) -> None:
        try:
            import onnx
            from onnx import numpy_helper
        except ImportError as error:
            raise ModelError(
                f"reading {path.name} needs the package onnx", "pip install 'everyface[torch]'"
            ) from error
        graph = onnx.load(path).graph
        self._held: Mapping[str, AnyArray] = {
            tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer
        }
        self._nodes = (n for n in graph.node if n.op_type not in ("Dropout", "Flatten"))
        self._name = path.name
        self._epsilon = 0.0

    def next(self, kind: str) -> list[AnyArray]:
        """Return the weights of the next operation, which must be of this kind."""
        node = next(self._nodes, None)
        if node is None or node.op_type != kind:
            raise ModelError(f"{self._name} is not SFace's network", "pull sface again")
        for attribute in node.attribute:
            if attribute.name == "epsilon":
                self._epsilon = attribute.f
        return [self._held[name] for name in node.input if name in self._held]

    def normalisation(self) -> tuple[F64, F64]:
        """Return the next normalisation as a gain and a shift for each channel."""
        held = self.next("BatchNormalization")
        gamma, beta, mean, variance = (values.astype(np.float64) for values in held)
        gain = gamma / np.sqrt(variance + self._epsilon)
        return gain, beta - mean * gain


def _set(parameter: Tensor, values: AnyArray) -> None:
    if tuple(parameter.shape) != values.shape:
        raise ModelError("a layer of SFace has another shape than expected", "pull sface again")
    parameter.data.copy_(torch.from_numpy(np.asarray(values, np.float32)))
