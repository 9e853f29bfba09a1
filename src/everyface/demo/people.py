"""People who do not exist, several photos each, for the demo and the tests.

Styles are drawn one after the other, pulled towards the mean where the portraits would look
unnatural otherwise, and painted once as they are and again with another expression, pose and
light. Somebody is taken on only if each photo shows one face that is read without doubt, if the
recogniser takes the photos for one person, and if that person is not much like anybody taken on
before.

What was painted is kept in the cache folder, person by person, so that it is painted once and a
run that was stopped goes on where it was.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import string
import tempfile
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

import cv2
import numpy as np
from filelock import FileLock

from everyface import faces as faces_room
from everyface.arrays import F32, U8
from everyface.errors import InputError
from everyface.faces.identity import Recogniser, embedded, recogniser
from everyface.files import write_bytes, writing
from everyface.models import policy, registry
from everyface.models.store import cache_folder
from everyface.progress import Tick, silent
from everyface.spaces.latent.edits import Edits
from everyface.spaces.latent.generator import FULL, WIDTH, Generator, everywhere

PSI = ((4, 0.65), (13, 0.95), (23, 0.65))
"""Truncation up to each layer: middle layers hold the features, and pulling these to the mean
makes people alike; coarse ones bring hats and hands over faces, fine ones garish colours."""

SAME = 0.5
"""Least similarity (SFace) of a person's photos."""

APART = 0.45
"""Greatest similarity of two people's photos: all are nearer to themselves than to others."""

VARIATION: dict[str, tuple[float, float]] = {
    "smile": (1.3, 1.9),
    "yaw": (0.6, 1.1),
    "pitch": (0.4, 0.9),
    "side": (0.8, 1.4),
    "light": (0.5, 1.0),
}
"""Edit → least and most steps that it is moved between two photos of a person."""

_RECIPE = 2  # raised when this module would paint other people from the same seed
_CHUNK = 16
_PAINTERS = ("stylegan_mapping", "stylegan_synthesis")
_READ = 0  # the layer whose style foretells a portrait's pose and smile
_WHO = "who.npz"


@dataclass(frozen=True)
class _Order:
    """What decides the pixels of a stock of people."""

    seed: int
    photos: int
    size: int

    def folder(self) -> Path:
        """Where the stock lies: named by all that it depends on."""
        edits = files("everyface.spaces.latent") / "edits.npz"
        told = json.dumps([_RECIPE, PSI, SAME, APART, VARIATION, asdict(self)]).encode()
        return (
            cache_folder() / "people" / hashlib.sha256(told + edits.read_bytes()).hexdigest()[:16]
        )

    def names(self) -> tuple[str, ...]:
        """File names of one person's photos."""
        return tuple(f"{letter}.jpg" for letter in string.ascii_lowercase[: self.photos])


def make(
    out: Path, n: int = 60, photos: int = 2, seed: int = 2026, size: int = 512, tick: Tick = silent
) -> list[Path]:
    """Write `n` synthetic people to `out`, a folder each, and return their photos.

    Parameters
    ----------
    out
        Gets ``person_001/a.jpg``, ``person_001/b.jpg``, ``person_002/a.jpg``, …
    n, photos
        How many people, and how many photos of each (1 to 26).
    seed
        The same seed gives the same people; fewer of them are the first of more.
    size
        Side of the square photos in pixels, at most 1024.
    tick
        Hears how many people there are.
    """
    if n < 1 or not 1 <= photos <= len(string.ascii_lowercase) or not 64 <= size <= FULL:
        raise InputError(
            f"{n} people with {photos} photos of {size} px cannot be made",
            f"ask for 1 person or more, 1 to 26 photos, 64 to {FULL} px",
        )
    for name in _PAINTERS:  # also where everybody was painted before
        policy.require_allowed(registry.entry(name))
    order = _Order(seed, photos, size)
    stock = order.folder()
    with writing(stock):
        stock.mkdir(parents=True, exist_ok=True)
        with FileLock(stock / ".lock"):
            _fill(stock, order, n, tick)
    made = []
    for person in range(n):
        for name in order.names():
            made.append(out / _folder(person) / name)
            write_bytes(made[-1], (stock / _folder(person) / name).read_bytes())
    return made


def _folder(person: int) -> str:
    return f"person_{person + 1:03d}"


def _fill(stock: Path, order: _Order, n: int, tick: Tick) -> None:
    """Take people on until the stock holds `n`."""
    known = _known(stock)
    tick("people", min(len(known), n), n)
    if len(known) >= n:
        return
    casting = _Casting(order, tick)
    candidate = known[-1].candidate + 1 if known else 0
    while len(known) < n:
        for person in casting.audition(range(candidate, candidate + _CHUNK)):
            if len(known) < n and casting.stranger(person, known):
                _keep(stock / _folder(len(known)), person, order)
                known.append(person)
                tick("people", len(known), n)
        candidate += _CHUNK


@dataclass(frozen=True)
class _Person:
    candidate: int
    embeddings: F32
    images: U8


def _known(stock: Path) -> list[_Person]:
    """Return the people in the stock, in order."""
    known: list[_Person] = []
    while (who := stock / _folder(len(known)) / _WHO).exists():
        with np.load(who, allow_pickle=False) as held:
            none = np.empty((0, 0, 0, 3), dtype=np.uint8)
            known.append(_Person(int(held["candidate"]), held["embeddings"], none))
    return known


def _keep(folder: Path, person: _Person, order: _Order) -> None:
    """Write one person's folder, whole or not at all."""
    aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".new-"))
    try:
        for name, image in zip(order.names(), person.images, strict=True):
            write_bytes(aside / name, _jpeg(image))
        who = io.BytesIO()
        np.savez(who, candidate=person.candidate, embeddings=person.embeddings)
        write_bytes(aside / _WHO, who.getvalue())
        aside.replace(folder)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def _jpeg(image: U8) -> bytes:
    coded = cv2.imencode(
        ".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 93]
    )
    return bytes(coded[1])


class _Casting:
    """Paints candidates and decides who is fit to be shown."""

    def __init__(self, order: _Order, tick: Tick) -> None:
        self._order = order
        self._generator = Generator(tick)
        self._edits = Edits.shipped()
        self._recogniser: Recogniser = recogniser("sface")

    def audition(self, candidates: range) -> list[_Person]:
        """Return those of the candidates whose photos are each read as one and the same face."""
        photos = self._order.photos
        styles = np.concatenate([self._styles(candidate) for candidate in candidates])
        images = self._generator.images(styles, self._order.size)
        with tempfile.TemporaryDirectory(prefix="everyface-people-") as folder:
            paths = [Path(folder) / f"{row:03d}.jpg" for row in range(len(images))]
            for path, image in zip(paths, images, strict=True):
                path.write_bytes(_jpeg(image))
            faces = faces_room.read(paths)
            refused = {refusal.photo for refusal in faces.refused}
            embeddings = embedded(faces, self._recogniser.name)
        fit = []
        for number, candidate in enumerate(candidates):
            own = range(number * photos, (number + 1) * photos)
            rows = np.flatnonzero(np.isin(faces.photo, own))
            if list(faces.photo[rows]) != list(own) or refused.intersection(own):
                continue
            person = _Person(candidate, embeddings[rows], images[own.start : own.stop])
            if self._alike(person.embeddings, person.embeddings).min() >= SAME:
                fit.append(person)
        return fit

    def stranger(self, person: _Person, known: list[_Person]) -> bool:
        """Whether the recogniser takes this person for none of the known."""
        return all(
            self._alike(person.embeddings, other.embeddings).max() < APART for other in known
        )

    def _alike(self, a: F32, b: F32) -> F32:
        return self._recogniser.similarity(a, b)

    def _styles(self, candidate: int) -> F32:
        """Return one candidate's styles, (photos, 23, 512): as drawn, and moved."""
        rng = np.random.default_rng([self._order.seed, candidate])
        z = rng.standard_normal((1, WIDTH), dtype=np.float32)
        mean = self._generator.mean
        offset = everywhere(self._generator.w(z) - mean)
        start = 0
        for end, psi in PSI:
            offset[:, start:end] *= np.float32(psi)
            start = end
        reading = self._edits.read(offset[:, _READ])
        amounts = {}
        for name, (least, most) in VARIATION.items():
            steps = rng.uniform(least, most, self._order.photos)
            signs = rng.choice([-1.0, 1.0], self._order.photos)
            # The second photo goes the other way: the smile fades, the head turns past the middle.
            signs[1:2] = -1.0 if reading[name][0] > 0 else 1.0
            steps[0] = 0.0
            amounts[name] = signs * steps
        styles = np.repeat(mean + offset, self._order.photos, axis=0)
        return self._edits.apply(styles, amounts)
