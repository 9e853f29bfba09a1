"""The encoder at work: photos to codes in one look, and in a few more where time allows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from everyface.models.runtime import Network, core


def opened(path: Path) -> Network:
    """Read an encoder that ``python -m everyface.training.encoder export`` wrote.

    Its 8-bit weights are widened here: left to widen them itself as it compiles the graph,
    OpenVINO 2026.4 was seen to give other codes on some of the times that one file was read.
    """
    model = core().read_model(path)
    _widen(model)
    return Network(model)


def _widen(model: Any) -> None:
    """Replace every 8-bit constant times its scale by the product."""
    from openvino import opset13

    for node in model.get_ops():
        if node.get_type_name() != "Multiply":
            continue
        whole, scale = (port.get_source_output().get_node() for port in node.inputs())
        if whole.get_type_name() != "Convert" or scale.get_type_name() != "Constant":
            continue
        coarse = whole.input(0).get_source_output().get_node()
        values = np.asarray(coarse.data, np.float32) * np.asarray(scale.data, np.float32)
        wide = opset13.constant(values)
        for reader in node.output(0).get_target_inputs():
            reader.replace_source_output(wide.output(0))
