"""The generator in PyTorch, for gradients: MobileStyleGAN rebuilt from its published graph.

The synthesis network starts from a constant of 4 px. Each of seven blocks doubles the side by an
inverse Haar wavelet transform (three quarters of the channels hold the detail bands), then
convolves twice, depthwise and pointwise. Every convolution reads its style through an affine map
of its own and multiplies its input's channels by it (Karras et al. 2020, Section 2.2; the
demodulation is folded into the weights). The last features, at 512 px, give the wavelet bands
of the image at 1024 px, so the image at 512 px is their low band alone, exactly.

`Synthesis.read` and `Mapping.read` take the networks from the files of the model store; the
weights are the published ones, unchanged.
"""

from __future__ import annotations

import copy
import itertools
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from everyface.arrays import F32, AnyArray
from everyface.errors import InputError
from everyface.spaces.latent.nets import ir

Tensor = Any

WIDTH, LAYERS, FULL = 512, 23, 1024
"""As in `everyface.spaces.latent.generator`, which this module must not load."""

CHANNELS = (512, 512, 512, 512, 512, 256, 128, 64)
"""Channels of the features at 4, 8, … 512 px."""

_SLOPE = 0.2


class Mapping(nn.Module):  # type: ignore[misc]
    """Codes z (n, 512) to styles w (n, 512): eight linear layers with leaky rectifiers."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(8))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Take the network from ``MappingNetwork.xml`` and the file beside it."""
        graph = ir.read(path)
        made = cls()
        products = sorted(n for n, kind in graph.kinds.items() if kind == "MatMul")
        for layer, product in zip(made.layers, products, strict=True):
            shaped = graph.user(product, "Add")
            reshape = next(n for n in graph.sources[shaped] if graph.kinds[n] == "Reshape")
            bias = next(graph.constants[n] for n in graph.sources[reshape] if n in graph.constants)
            gain = graph.operand(graph.user(graph.user(shaped, "PReLU"), "Multiply")).item()
            _set(layer.weight, gain * graph.operand(product))
            _set(layer.bias, gain * bias)
        made.requires_grad_(requires_grad=False).eval()
        return made

    def forward(self, z: Tensor) -> Tensor:
        """Map codes to styles."""
        x = z * torch.rsqrt(z.square().mean(dim=1, keepdim=True) + 1e-8)
        for layer in self.layers:
            x = functional.leaky_relu(layer(x), _SLOPE)
        return x


class Convolution(nn.Module):  # type: ignore[misc]
    """A convolution whose input channels a style scales, with noise, bias and rectifier.

    Parameters
    ----------
    into, out
        Channels.
    side
        Side of the features, which the fixed noise has too.
    whole
        Convolve 3 x 3 over all channels; otherwise 3 x 3 in each channel, then 1 x 1 over all.
    """

    def __init__(self, into: int, out: int, side: int, *, whole: bool = False) -> None:
        super().__init__()
        self.style = nn.Linear(WIDTH, into)
        self.depthwise = None if whole else nn.Parameter(torch.zeros(into, 1, 3, 3))
        window = 3 if whole else 1
        self.weight = nn.Parameter(torch.zeros(out, into, window, window))
        self.bias = nn.Parameter(torch.zeros(1, out, 1, 1))
        self.noise = nn.Parameter(torch.zeros(1, 1, side, side))

    def forward(self, x: Tensor, w: Tensor) -> Tensor:
        """Convolve features (n, into, side, side) in the styles w (n, 512)."""
        x = x * _channels(self.style(w), x)
        if self.depthwise is not None:
            x = each_channel(x, self.depthwise)
            x = functional.conv2d(x, self.weight)
        else:
            x = functional.conv2d(x, self.weight, padding=1)
        return functional.leaky_relu(x + self.noise + self.bias, _SLOPE)


def each_channel(x: Tensor, kernel: Tensor) -> Tensor:
    """Convolve every channel with its own 3 x 3 kernel.

    Where the network is being compiled, nine shifted products are written out: the compiler
    joins them with what comes before and after, and each feature is read once.
    """
    if not torch.compiler.is_compiling():
        return functional.conv2d(x, kernel, padding=1, groups=x.shape[1])
    height, width = x.shape[2:]
    wide = functional.pad(x, (1, 1, 1, 1))
    factors = kernel[:, 0, :, :, None, None]
    return sum(
        wide[:, :, row : row + height, column : column + width] * factors[:, row, column]
        for row in range(3)
        for column in range(3)
    )


class Block(nn.Module):  # type: ignore[misc]
    """Doubles the side of features and convolves them twice."""

    def __init__(self, into: int, out: int, side: int) -> None:
        super().__init__()
        self.up = nn.Linear(WIDTH, into)
        self.first = Convolution(into // 4, out, side)
        self.second = Convolution(out, out, side)

    def forward(self, x: Tensor, styles: Tensor) -> Tensor:
        """Take features (n, into, s, s) in three styles (n, 3, 512) to (n, out, 2s, 2s)."""
        x = unfold(x * _channels(self.up(styles[:, 0]), x))
        return self.second(self.first(x, styles[:, 1]), styles[:, 2])


class Synthesis(nn.Module):  # type: ignore[misc]
    """Styles (n, 23, 512) to images (n, 3, side, side) in -1 … 1."""

    def __init__(self) -> None:
        super().__init__()
        self.start = nn.Parameter(torch.zeros(1, CHANNELS[0], 4, 4))
        self.first = Convolution(CHANNELS[0], CHANNELS[0], 4, whole=True)
        self.blocks = nn.ModuleList(
            Block(into, out, 8 << level)
            for level, (into, out) in enumerate(itertools.pairwise(CHANNELS))
        )
        self.colour = nn.Linear(WIDTH, CHANNELS[-1])
        self.bands = nn.Conv2d(CHANNELS[-1], 12, 1)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Take the network from ``SynthesisNetwork.xml`` and the file beside it."""
        graph = ir.read(path)
        made = cls()
        with torch.no_grad():
            _set(made.start, graph.constant("m.input.input"))
            _fill(made.first, graph, "m.conv1")
            for level, block in enumerate(made.blocks):
                _affine(block.up, graph, f"m.layers.{level}.up")
                _fill(block.first, graph, f"m.layers.{level}.conv1")
                _fill(block.second, graph, f"m.layers.{level}.conv2")
            last = f"m.layers.{len(made.blocks) - 1}.to_img"
            _affine(made.colour, graph, f"{last}.conv")
            _set(made.bands.weight, graph.constant(f"{last}.conv.weight"))
            _set(made.bands.bias, graph.constant(f"{last}.bias").reshape(-1))
        made.requires_grad_(requires_grad=False).eval()
        return made

    def narrowed(self, dtype: Any) -> Self:
        """Return a copy that convolves in `dtype`; styles are still read in 32 bits."""
        made = copy.deepcopy(self)
        for module in made.modules():
            if not isinstance(module, nn.Linear):
                for parameter in module.parameters(recurse=False):
                    parameter.data = parameter.data.to(dtype)
        return made

    def features(self, styles: Tensor, levels: int = len(CHANNELS) - 1) -> Tensor:
        """Return the features after so many blocks, at 4 · 2**levels px."""
        x = self.first(self.start.expand(len(styles), -1, -1, -1), styles[:, 0])
        for level, block in enumerate(self.blocks[:levels]):
            x = block(x, styles[:, 1 + 3 * level : 4 + 3 * level])
        return x

    def image(self, features: Tensor, styles: Tensor, side: int = FULL) -> Tensor:
        """Return the image that the last features paint, at 1024 px or a whole part of it.

        Up to 512 px it comes from the low band, shrunk by area.
        """
        if side < 1 or FULL % side:
            raise InputError(f"images of {side} px were asked for", f"ask for {FULL} or a part")
        bands = self.bands(features * _channels(self.colour(styles[:, -1]), features))
        if side == FULL:
            return unfold(bands)
        low = bands[:, :3] / 2
        return functional.avg_pool2d(low, FULL // 2 // side) if side < FULL // 2 else low

    def forward(self, styles: Tensor, side: int = FULL) -> Tensor:
        """Paint styles."""
        return self.image(self.features(styles), styles, side)


def _channels(values: Tensor, features: Tensor) -> Tensor:
    return values[:, :, None, None].to(features.dtype)


def unfold(bands: Tensor) -> Tensor:
    """Invert one step of the Haar transform: (n, 4c, s, s) to (n, c, 2s, 2s).

    The first c channels are the low band; then come, channel by channel, the three details: of
    rows, of columns, and of both.
    """
    n, channels, height, width = bands.shape
    low = bands[:, : channels // 4]
    detail = bands[:, channels // 4 :].reshape(n, channels // 4, 3, height, width)
    rows, columns, both = detail.unbind(dim=2)
    upper, lower = low + rows, low - rows
    right, left = columns + both, columns - both
    corners = torch.stack([upper + right, upper - right, lower + left, lower - left], dim=2)
    return functional.pixel_shuffle(corners.reshape(n, channels, height, width) / 2, 2)


def _fill(layer: Convolution, graph: ir.Graph, name: str) -> None:
    """Copy one convolution, finding its unnamed constants by the way the graph is wired."""
    scale = _affine(layer.style, graph, f"{name}.conv")
    if layer.depthwise is None:
        convolved = graph.user(graph.user(scale, "Multiply"), "Convolution")
    else:
        each = graph.names[f"{name}.conv.weight_dw"]
        _set(layer.depthwise, graph.constants[each].reshape(layer.depthwise.shape))
        convolved = graph.user(graph.user(each, "GroupConvolution"), "Convolution")
    _set(layer.weight, graph.operand(convolved))
    _set(layer.noise, graph.operand(graph.user(convolved, "Add")))
    _set(layer.bias, graph.constant(f"{name}.bias"))


def _affine(layer: nn.Linear, graph: ir.Graph, name: str) -> int:
    """Copy a style's affine map with the constant that scales it; return the scaling operation."""
    weight = graph.names[f"{name}.modulation.weight"]
    added = graph.user(graph.user(weight, "MatMul"), "Add")
    scaling = graph.user(graph.user(added, "Reshape"), "Multiply")
    scales = [graph.constants[s] for s in graph.sources[scaling] if s in graph.constants]
    scale = scales[0].item() if scales else 1.0
    _set(layer.weight, scale * graph.constants[weight])
    _set(layer.bias, scale * graph.constant(f"{name}.modulation.bias").reshape(-1))
    return scaling


def _set(parameter: Tensor, values: AnyArray) -> None:
    if tuple(parameter.shape) != values.shape:
        raise InputError(f"weights of shape {values.shape} do not fit {tuple(parameter.shape)}")
    parameter.data = torch.from_numpy(np.array(values, dtype=np.float32))


def everywhere(w: F32 | Tensor) -> Tensor:
    """Return styles as (n, 23, 512); of (n, 512), one style is read at every place."""
    styles = torch.as_tensor(w)
    return styles[:, None].expand(-1, LAYERS, -1) if styles.ndim == 2 else styles
