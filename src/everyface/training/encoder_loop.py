"""The loop that trains the encoder.

First the code alone is learnt, of portraits whose code is known; then the images too, in rounds: a
batch holds portraits in their first round beside portraits in later ones, so that the
normalisations see the mixture that they will be used on. How far the schedule has come goes by
minutes, since the time on a machine is what is given.
"""

from __future__ import annotations

import io
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import torch

from everyface.files import write_bytes
from everyface.spaces.latent.nets.synthesis import Synthesis
from everyface.training.encoder_data import LAYERS, codes, seen
from everyface.training.encoder_loss import CODE, CODE_LATER, WEIGHTS, Losses
from everyface.training.encoder_net import SIDE, Encoder
from everyface.training.encoder_weights import Frozen

Tensor = Any

ROUNDS = 3
"""Rounds that a portrait is seen in; a batch holds as many portraits of each."""

FIRST = 0.2
"""Share of the time in which the code alone is learnt."""

RATE, LEAST, WARM = 5e-4, 5e-6, 300
"""Greatest and least rate of learning, and steps until the greatest is reached."""

_KEPT = 0.999
"""How much of the averaged weights stays at each step."""

_SAVED, _TOLD = 120.0, 5.0


@dataclass(frozen=True)
class Plan:
    """How long and how wide.

    Attributes
    ----------
    batch
        Portraits a step, a multiple of `ROUNDS`.
    minutes
        Time of this run, everything included.
    total
        Time that the whole schedule takes, over all runs.
    out
        Folder of the checkpoint.
    compiled
        Whether the networks are compiled, where that works.
    """

    batch: int
    minutes: float
    total: float
    out: Path
    compiled: bool = True

    @property
    def checkpoint(self) -> Path:
        """Where a run that was stopped goes on from."""
        return self.out / "checkpoint.pt"


@dataclass
class Round:
    """Portraits between two rounds, a tensor of n rows each."""

    seen: Tensor
    wanted: Tensor
    true: Tensor
    code: Tensor
    image: Tensor


@dataclass
class Trainer:
    """Everything that a step needs; `start` makes one."""

    frozen: Frozen
    plan: Plan
    device: str
    encoder: Encoder = field(default_factory=Encoder)
    average: Encoder = field(default_factory=Encoder)
    step: int = 0
    before: float = 0.0
    waiting: list[Round] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.began = time.monotonic()
        fast = self.device.startswith("cuda")
        self.frozen = self.frozen.to(self.device)
        self.mean = self.frozen.mean()
        self.losses = Losses.make(self.frozen, self.mean)
        self.encoder.to(self.device)
        self.average.to(self.device).requires_grad_(requires_grad=False).eval()
        self.average.load_state_dict(self.encoder.state_dict())
        if fast:
            torch.set_float32_matmul_precision("high")
            torch.backends.cudnn.benchmark = True
            self.encoder.to(memory_format=torch.channels_last)
            self.frozen.vgg.to(torch.bfloat16, memory_format=torch.channels_last)
        exact, rough = (torch.float16, torch.bfloat16) if fast else (torch.float32,) * 2
        self.paint: Callable[..., Tensor] = _painter(self.frozen.synthesis.narrowed(exact))
        self.repaint: Callable[..., Tensor] = _painter(self.frozen.synthesis.narrowed(rough))
        self.encode: Callable[..., Tensor] = self.encoder
        self.optimiser = torch.optim.AdamW(
            self.encoder.parameters(), RATE, betas=(0.9, 0.98), weight_decay=1e-4
        )
        with torch.no_grad():
            self.face = self.paint(self.mean.expand(1, LAYERS, -1).contiguous())

    @property
    def done(self) -> float:
        """Share of the schedule that is over."""
        return min(1.0, (self.before + self.minutes) / self.plan.total)

    @property
    def minutes(self) -> float:
        """Minutes since this run began."""
        return (time.monotonic() - self.began) / 60

    @property
    def painting(self) -> bool:
        """Whether images are compared already."""
        return self.done >= FIRST

    def compile(self) -> None:
        """Compile the networks; what cannot be compiled runs as it is."""
        import torch._dynamo

        torch._dynamo.config.suppress_errors = True
        self.paint = torch.compile(self.paint, dynamic=False)
        self.repaint = torch.compile(self.repaint, dynamic=False)
        self.encode = torch.compile(self.encoder, dynamic=False)

    def fresh(self, n: int) -> Round:
        """Paint new portraits for their first round, always as many at once."""
        pieces, size = [], self.plan.batch // ROUNDS
        with torch.no_grad():
            for _ in range(n // size):
                true = codes(self.frozen.mapping, self.mean, size)
                given, wanted = seen(self.paint(true).nan_to_num())
                pieces.append((given, wanted, true))
            given, wanted, true = (torch.cat(parts) for parts in zip(*pieces, strict=True))
        code = self.mean.expand_as(true)
        return Round(given, wanted, true, code, self.face.expand(n, -1, -1, -1))

    def train(self) -> dict[str, float]:
        """Take one step and return its losses."""
        if not self.painting:
            batch = [self.fresh(self.plan.batch)]
        else:
            size = self.plan.batch // ROUNDS
            while len(self.waiting) < ROUNDS - 1:
                self.waiting.append(self.fresh(size))
            batch = [self.fresh(size), *self.waiting]
        whole = Round(*(torch.cat(parts) for parts in zip(*map(_parts, batch), strict=True)))
        with torch.autocast(self.device.split(":")[0], torch.bfloat16):
            moved = self.encode(torch.cat([whole.seen, whole.image], dim=1))
        whole.code = whole.code + moved.float()
        found = {"code": self.losses.code(whole.code, whole.true)}
        if self.painting:
            whole.image = self.repaint(whole.code)
            found |= self.losses.images(whole.image, whole.wanted)
        self._learn(sum(self._weight(name) * value for name, value in found.items()))
        self.waiting = _later(whole, batch) if self.painting else []
        return {name: value.item() for name, value in found.items()}

    def _weight(self, name: str) -> float:
        return WEIGHTS.get(name, CODE_LATER if self.painting else CODE)

    def _learn(self, loss: Tensor) -> None:
        rate = LEAST + (RATE - LEAST) * (1 + math.cos(math.pi * self.done)) / 2
        for group in self.optimiser.param_groups:
            group["lr"] = rate * min(1.0, (self.step + 1) / WARM)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        length = torch.nn.utils.clip_grad_norm_(self.encoder.parameters(), 1.0)
        if not torch.isfinite(length):
            return
        self.optimiser.step()
        self.step += 1
        kept = min(_KEPT, self.step / (self.step + 10))
        pairs = zip(_floats(self.average), _floats(self.encoder), strict=True)
        averages, now = (list(held) for held in zip(*pairs, strict=True))
        torch._foreach_lerp_(averages, now, 1 - kept)

    def begin(self, state: dict[str, Any], minutes: float) -> None:
        """Begin with weights of an earlier run, which took so many minutes."""
        self.encoder.load_state_dict(state)
        self.average.load_state_dict(state)
        self.before = minutes

    def save(self) -> None:
        """Write the checkpoint."""
        data = io.BytesIO()
        torch.save(
            {
                "encoder": self.encoder.state_dict(),
                "average": self.average.state_dict(),
                "optimiser": self.optimiser.state_dict(),
                "step": self.step,
                "minutes": self.before + self.minutes,
            },
            data,
        )
        write_bytes(self.plan.checkpoint, data.getvalue())

    def resume(self) -> None:
        """Go on from the checkpoint, if there is one."""
        if self.plan.checkpoint.is_file():
            held = torch.load(self.plan.checkpoint, map_location=self.device, weights_only=True)
            self.encoder.load_state_dict(held["encoder"])
            self.average.load_state_dict(held["average"])
            self.optimiser.load_state_dict(held["optimiser"])
            self.step, self.before = held["step"], held["minutes"]


def run(trainer: Trainer, say: Callable[[str], None]) -> None:
    """Train until the minutes of this run are over, saving now and then."""
    trainer.resume()
    if trainer.plan.compiled:
        trainer.compile()
    told = saved = time.monotonic()
    sums: dict[str, float] = {}
    steps = 0
    while trainer.minutes < trainer.plan.minutes:
        for name, value in trainer.train().items():
            sums[name] = sums.get(name, 0.0) + value
        now, steps = time.monotonic(), steps + 1
        if now - told > _TOLD:
            rate = steps * trainer.plan.batch / (now - told)
            losses = "  ".join(f"{name} {value / steps:.4f}" for name, value in sums.items())
            say(
                f"step {trainer.step}  {trainer.before + trainer.minutes:.2f} of "
                f"{trainer.plan.total:g} min  {losses}  {rate:.0f} portraits/s"
            )
            told, sums, steps = now, {}, 0
        if now - saved > _SAVED:
            trainer.save()
            saved = now
    trainer.save()


def judge(trainer: Trainer, n: int, seed: int = 1) -> tuple[list[dict[str, float]], Tensor]:
    """Try the averaged encoder on portraits of `n` people: losses and images, round by round."""
    with torch.no_grad(), torch.random.fork_rng(devices=_devices(trainer.device)):
        torch.manual_seed(seed)
        styles = trainer.frozen.mapping(torch.randn(n, len(trainer.mean), device=trainer.device))
        true = trainer.mean + 0.8 * (styles - trainer.mean)
        wanted = _in_parts(trainer.frozen.synthesis, true[:, None].expand(-1, LAYERS, -1))
        code = trainer.mean.expand(n, LAYERS, -1)
        images, told = [trainer.face.expand(n, -1, -1, -1)], []
        for _ in range(ROUNDS):
            code = code + trainer.average(torch.cat([wanted, images[-1]], dim=1))
            images.append(_in_parts(trainer.frozen.synthesis, code))
            found = trainer.losses.images(images[-1], wanted)
            told.append({name: value.item() for name, value in found.items()})
    return told, torch.stack([wanted, *images[1:]], dim=1)


def _painter(network: Synthesis) -> Callable[..., Tensor]:
    def paint(styles: Tensor) -> Tensor:
        return network(styles, SIDE).float()

    return paint


def _in_parts(network: Synthesis, styles: Tensor, size: int = 8) -> Tensor:
    return torch.cat([network(part, SIDE) for part in styles.split(size)])


def _later(whole: Round, batch: list[Round]) -> list[Round]:
    """Return the portraits of all rounds but the last, as they go into the next."""
    size = len(whole.seen) // len(batch)
    rows = [slice(i * size, (i + 1) * size) for i in range(len(batch) - 1)]
    return [Round(*(part[r].detach() for part in _parts(whole))) for r in rows]


def _floats(network: Encoder) -> list[Tensor]:
    return [v.detach() for v in network.state_dict().values() if v.is_floating_point()]


def _parts(held: Round) -> list[Tensor]:
    return [getattr(held, part.name) for part in fields(held)]


def _devices(device: str) -> list[int]:
    return [torch.cuda.current_device()] if device.startswith("cuda") else []
