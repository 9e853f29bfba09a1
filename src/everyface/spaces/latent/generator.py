"""The generator: style codes to portraits (MobileStyleGAN, distilled from StyleGAN2-FFHQ).

A code `z` is drawn from a normal distribution, mapped to a style `w`, pulled towards the mean style
(the truncation trick of StyleGAN, Karras et al. 2019, Section 3 and Appendix B), and painted. The
network reads its style at 23 places; giving each place a style of its own is the extended space W+,
in which pose (coarse layers), expression (middle) and light (fine) can be moved apart.
"""

from __future__ import annotations

import functools
from typing import Any

import cv2
import numpy as np

from everyface.arrays import F32, U8
from everyface.errors import InputError
from everyface.models import store
from everyface.models.runtime import Network, core, network
from everyface.progress import Tick, silent

WIDTH = 512
"""Length of one style."""
LAYERS = 23
"""Places at which the network reads a style: 4 px (1), 8 to 512 px (3 each), colour (1)."""
FULL = 1024
"""Side of the painted image."""

_MEAN_SEED, _MEAN_DRAWS = 0, 10_000
_CHUNK = 8  # a full image in floats is 12 MB


class Generator:
    """Paints people who do not exist.

    The same style gives the same pixels, whatever batch it travels in.

    Examples
    --------
    >>> generator = Generator()  # doctest: +SKIP
    >>> generator.images(generator.w(generator.draw(2, seed=1)), size=256).shape  # doctest: +SKIP
    (2, 256, 256, 3)
    """

    def __init__(self, tick: Tick = silent) -> None:
        for name in ("stylegan_mapping", "stylegan_synthesis"):
            store.fetch(name, tick)

    @staticmethod
    def draw(n: int, seed: int) -> F32:
        """Draw `n` codes z (n, 512)."""
        return np.random.default_rng(seed).standard_normal((n, WIDTH), dtype=np.float32)

    def w(self, z: F32, psi: float = 1.0) -> F32:
        """Map codes z (n, 512) to styles (n, 512), pulled to the mean where `psi` is below 1."""
        styles = network("stylegan_mapping").run(z)["style"]
        return styles if psi == 1.0 else self.mean + np.float32(psi) * (styles - self.mean)

    @functools.cached_property
    def mean(self) -> F32:
        """The mean style (512,), over a fixed draw of codes."""
        styles = self.w(self.draw(_MEAN_DRAWS, _MEAN_SEED))
        mean: F32 = styles.mean(axis=0, dtype=np.float64).astype(np.float32)
        return mean

    def images(self, w: F32, size: int = FULL, tick: Tick = silent) -> U8:
        """Paint styles (n, 512) or (n, 23, 512) as RGB images (n, size, size, 3)."""
        styles = everywhere(w)
        if not 0 < size <= FULL:
            raise InputError(f"portraits of {size} px were asked for", f"ask for 1 to {FULL}")
        painted: U8 = np.empty((len(styles), size, size, 3), dtype=np.uint8)
        for start in range(0, len(styles), _CHUNK):
            tick("portraits", start, len(styles))
            planes = _synthesis().run(styles[start : start + _CHUNK])["img"]
            for row, plane in enumerate(planes, start):
                painted[row] = _pixels(plane, size)
        tick("portraits", len(styles), len(styles))
        return painted


def everywhere(w: F32) -> F32:
    """Return styles as (n, 23, 512); of (n, 512), one style is read at every place."""
    styles = np.asarray(w, dtype=np.float32)
    if styles.ndim == 2:
        styles = np.repeat(styles[:, None], LAYERS, axis=1)
    if styles.shape[1:] != (LAYERS, WIDTH):
        raise InputError(
            f"styles have shape {np.shape(w)}", f"give (n, {WIDTH}) or (n, {LAYERS}, {WIDTH})"
        )
    return styles


@functools.cache
def _synthesis() -> Network:
    return Network(_opened(core().read_model(store.fetch("stylegan_synthesis"))))


def _opened(model: Any) -> Any:
    """Return the synthesis network with one style input a layer, (1, 23, 512), where it had one.

    Every reader of the style is a matrix product named ``Gemm_<number>`` in the order of layers.
    """
    import openvino
    from openvino import opset13

    shared = model.input(0).get_node().output(0)
    readers = sorted(
        (port.get_node() for port in shared.get_target_inputs() if _is_product(port.get_node())),
        key=lambda node: int(node.get_friendly_name().split("_")[1].split("/")[0]),
    )
    styles = opset13.parameter([1, LAYERS, WIDTH], np.float32, name="styles")
    axis = opset13.constant(1, np.int64)
    layers = [
        opset13.gather(styles, opset13.constant(layer, np.int64), axis) for layer in range(LAYERS)
    ]
    for reader, layer in zip(readers, layers, strict=True):
        reader.input(0).replace_source_output(layer.output(0))
    for port in list(shared.get_target_inputs()):
        port.replace_source_output(layers[0].output(0))
    return openvino.Model(model.get_results(), [styles], "portrait")


def _is_product(node: Any) -> bool:
    return bool(node.get_type_name() == "MatMul")


def _pixels(planes: F32, size: int) -> U8:
    """Turn planes (3, 1024, 1024) in −1 … 1 to RGB pixels, shrunk by area."""
    image = np.ascontiguousarray(planes.transpose(1, 2, 0))
    if size != FULL:
        image = cv2.resize(image, (size, size), interpolation=cv2.INTER_AREA)
    pixels: U8 = np.clip(np.rint((image + 1.0) * 127.5), 0, 255).astype(np.uint8)
    return pixels
