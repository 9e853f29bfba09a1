"""Time and loss against the number of people, as pictures."""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from benchmarks.grouping.measures import information_loss
from benchmarks.grouping.quality import methods
from benchmarks.grouping.sets import facelike

SIZES = (100, 200, 400, 800)


def _saved(figure: plt.Figure, file: Path) -> None:
    figure.tight_layout()
    figure.savefig(file, dpi=120)
    plt.close(figure)


def plot_times(times: list[tuple[int, float]], folder: Path) -> None:
    """Draw the time of `refined` against the number of people."""
    figure, axes = plt.subplots(figsize=(6, 4))
    axes.loglog([n for n, _ in times], [s for _, s in times], "o-")
    axes.set(xlabel="people", ylabel="seconds", title="refined, 128 dimensions, k = 10")
    axes.grid(visible=True, alpha=0.3)
    _saved(figure, folder / "refined-time.png")


def plot_loss(folder: Path, k: int = 5) -> None:
    """Draw loss and time of every method against the number of people, on face-like codes."""
    figure, (losses, seconds) = plt.subplots(1, 2, figsize=(12, 5))
    for name, method in methods(k).items():
        found = []
        for n in SIZES:
            X = facelike(n)
            start = time.perf_counter()
            labels = method.fit_predict(X)
            found.append((information_loss(X, labels), time.perf_counter() - start))
        style = {"linewidth": 3} if name == "refined" else {"linewidth": 1}
        losses.plot(SIZES, [loss for loss, _ in found], label=name, **style)
        seconds.loglog(SIZES, [taken for _, taken in found], label=name, **style)
    losses.set(xlabel="people", ylabel="information loss", title=f"k = {k}, face-like codes")
    seconds.set(xlabel="people", ylabel="seconds", title=f"k = {k}, face-like codes")
    losses.legend(fontsize=7)
    _saved(figure, folder / "loss-and-time.png")
