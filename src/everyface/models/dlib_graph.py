"""Reading dlib's face recognition ResNet as an OpenVINO graph, without dlib.

dlib's own code runs this network on one core in a tenth of a second a face; OpenVINO runs the same
arithmetic several times as fast. A ``.dat`` file holds the layers from the input upward. Each
layer with weights says its kind as text, then the shape of its tensor as integers of one
length byte and as many bytes, and then raw little-endian 32-bit floats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from everyface.arrays import F32
from everyface.errors import ModelError

if TYPE_CHECKING:
    import openvino

Node = Any
SIDE = 150

_MEAN = np.array([122.782, 117.001, 104.298], np.float32)
_STAGES = ((32, 3, False), (64, 4, True), (128, 3, True), (256, 3, True), (256, 1, True))
"""Channels, residual blocks, and whether the first block halves the picture."""


def read(path: Path) -> openvino.Model:
    """Build the graph: RGB chips 0-255, (n, 150, 150, 3), to vectors, (n, 128)."""
    import openvino
    from openvino import opset13 as ops

    tensors = _tensors(path)
    entrance = ops.parameter([-1, SIDE, SIDE, 3], np.float32, name="input")
    colours = ops.multiply(ops.subtract(entrance, _MEAN), np.float32(1 / 256))
    node = ops.transpose(colours, np.array([0, 3, 1, 2]))
    node = ops.relu(_affine(_convolved(node, tensors, (32, 3, 7), stride=2), tensors))
    node = _pooled(node, "max", 3)
    wide, side = 32, 35
    for channels, blocks, halves in _STAGES:
        for number in range(blocks):
            down = halves and number == 0
            node = _block(node, tensors, (wide, channels, side), down=down)
            wide = channels
            side = max((side - 3) // 2 + 1, side // 2) if down else side
    node = ops.reduce_mean(node, np.array([2, 3]), False)
    # The fully connected tensor is (inputs, outputs).
    node = ops.matmul(node, next(tensors)[1].reshape(wide, 128), False, False)
    model = openvino.Model([node], [entrance], "dlib")
    model.output(0).get_tensor().set_names({"output"})
    return model


_NAMES = re.compile(rb"con_4|affine_|fc_2")


def _tensors(path: Path) -> Iterator[tuple[str, F32]]:
    """Yield every layer's kind and weights, from the input upward."""
    data = path.read_bytes()
    at = data.index(b"input_rgb_image_sized")
    while True:
        name = _NAMES.search(data, at)
        if name is None:
            raise ModelError(f"{path} ends before its last layer", "pull dlib_resnet again")
        kind, at = name.group(), name.end()
        for _ in range(2 if kind == b"fc_2" else 0):  # its numbers of outputs and inputs
            _, at = _integer(data, at)
        version, at = _integer(data, at)
        size = 1
        for _ in range(4):
            length, at = _integer(data, at)
            size *= length
        if version != 2 or at + 4 * size > len(data):
            raise ModelError(f"{path} is not dlib's face recognition network")
        yield kind.decode(), np.frombuffer(data, "<f4", size, at).astype(np.float32)
        at += 4 * size


def _integer(data: bytes, at: int) -> tuple[int, int]:
    """Read one of dlib's integers and return it with the place after it."""
    length = data[at] & 0x0F
    return int.from_bytes(data[at + 1 : at + 1 + length], "little"), at + 1 + length


def _convolved(
    node: Node, tensors: Iterator[tuple[str, F32]], shape: tuple[int, int, int], stride: int = 1
) -> Node:
    """Convolve; dlib pads by half the window, except when it strides, where it does not pad."""
    from openvino import opset13 as ops

    out, into, window = shape
    _, values = next(tensors)
    kernel = values[:-out].reshape(out, into, window, window)
    ends = [window // 2] * 2 if stride == 1 else [0, 0]
    done = ops.convolution(node, kernel.copy(), [stride] * 2, ends, ends, [1, 1])
    return ops.add(done, values[-out:].reshape(1, -1, 1, 1).copy())


def _affine(node: Node, tensors: Iterator[tuple[str, F32]]) -> Node:
    from openvino import opset13 as ops

    gain, shift = next(tensors)[1].reshape(2, 1, -1, 1, 1)
    return ops.add(ops.multiply(node, gain.copy()), shift.copy())


def _pooled(node: Node, kind: str, window: int) -> Node:
    from openvino import opset8 as ops

    edge = [0, 0]
    if kind == "max":
        return ops.max_pool(node, [2, 2], [1, 1], edge, edge, [window] * 2).output(0)
    return ops.avg_pool(node, [2, 2], edge, edge, [window] * 2, exclude_pad=True)


def _block(
    node: Node, tensors: Iterator[tuple[str, F32]], shape: tuple[int, int, int], *, down: bool
) -> Node:
    """Two convolutions beside a short cut; dlib adds pictures of unlike shape as if padded by 0."""
    from openvino import opset13 as ops

    wide, channels, side = shape
    stride = 2 if down else 1
    long = _affine(_convolved(node, tensors, (channels, wide, 3), stride), tensors)
    long = _affine(_convolved(ops.relu(long), tensors, (channels, channels, 3)), tensors)
    if not down:
        return ops.relu(ops.add(long, node))
    long_side, short_side = (side - 3) // 2 + 1, side // 2
    whole = max(long_side, short_side)
    short = _padded(_pooled(node, "mean", 2), channels - wide, whole - short_side)
    return ops.relu(ops.add(_padded(long, 0, whole - long_side), short))


def _padded(node: Node, channels: int, side: int) -> Node:
    from openvino import opset13 as ops

    more = np.array([0, channels, side, side])
    return ops.pad(node, np.zeros(4, np.int64), more, "constant", np.float32(0))
