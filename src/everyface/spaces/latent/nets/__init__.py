"""The networks that gradients run through, rebuilt in PyTorch: importing any of them needs it."""

from __future__ import annotations

from everyface.errors import ModelError

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ModelError(
        "gradients and training need PyTorch, which is not installed",
        "pip install 'everyface[torch]'",
    ) from error
