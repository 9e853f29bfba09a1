"""The two forms of a release, as the gate sees and changes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count

import numpy as np

from everyface.arrays import F32, I32, I64, U8, AnyArray
from everyface.attacks.gate import Probes
from everyface.faces.align import apply, crop, face_transform
from everyface.faces.faceset import FaceSet
from everyface.faces.photo import read_photo
from everyface.merge import Background, Surrogate, apply_background, into_photo, place
from everyface.pipeline.pool import Painter
from everyface.spaces.components import one_thread

RAISED = (
    (Background.BLUR, 0.15),
    (Background.BLUR, 0.25),
    (Background.BLUR, 0.5),
    (Background.BLUR, 1.0),
    (Background.MASK, 1.0),
)
"""Stronger background policies and their strengths, in the order in which the gate raises them.
The first look like a lens with little depth of field."""


class FacesStage:
    """Aligned faces: a whole group changes together, so that its files stay byte for byte equal.

    Parameters
    ----------
    painter
        Draws the pool's codes.
    ranked
        (units, depth) codes to try, −1 where there are no more.
    unit
        Face → unit.
    group
        Face → the group whose people stand together.
    """

    def __init__(self, painter: Painter, ranked: I32, unit: I64, group: AnyArray) -> None:
        self.painter, self.ranked, self.unit, self.group = painter, ranked, unit, group
        self.state = np.zeros(len(ranked), dtype=np.int64)
        self.gone = np.zeros(len(unit), dtype=bool)

    def code(self, row: int) -> int:
        """Return the code that stands for a face now."""
        unit = self.unit[row]
        return int(self.ranked[unit, min(self.state[unit], self.choices(int(unit)) - 1)])

    def choices(self, unit: int) -> int:
        """Return how many codes may be tried for a unit."""
        return max(1, int((self.ranked[unit] >= 0).sum()))

    def states(self, unit: int) -> int:
        """As `Stage.states`: one a code."""
        return self.choices(unit)

    def set(self, unit: int, state: int) -> None:
        """As `Stage.set`."""
        self.state[unit] = state

    def give_up(self, rows: I64) -> None:
        """Do what is left for faces that fail the last look: set them aside."""
        self.quarantine(rows)

    def quarantine(self, rows: I64) -> I64:
        """Drop the whole groups, so that none is left below k."""
        gone = np.flatnonzero(np.isin(self.group, self.group[rows]))
        self.gone[gone] = True
        return gone

    def probes(self, rows: I64) -> Probes:
        """As `Stage.probes`; a surrogate is drawn once for all who share it."""
        codes, of_row = np.unique([self.code(int(row)) for row in rows], return_inverse=True)
        drawn = [self.painter(int(code)) for code in codes]
        return Probes(
            crops=np.concatenate([face.images for face in drawn]),
            points=np.concatenate([face.points for face in drawn]),
            of_row=of_row.astype(np.int64),
        )

    def placed(self, row: int) -> F32:
        """Return the mesh of a face's surrogate in its file."""
        mesh: F32 = self.painter(self.code(row)).points[0]
        return mesh

    def render(self, row: int) -> U8:
        """Draw the file of one face."""
        image: U8 = self.painter(self.code(row)).images[0]
        return image


class PhotosStage(FacesStage):
    """Merged photos: each person changes alone, and photos can be given a stronger background.

    A unit's states are its codes first; then the best background policies, on the last code
    that the gate kept.
    """

    def __init__(
        self, painter: Painter, ranked: I32, unit: I64, faces: FaceSet, policy: Background
    ) -> None:
        super().__init__(painter, ranked, unit, unit)
        self.faces, self.policy = faces, policy
        raised = RAISED if policy is Background.KEEP else RAISED[-1:]
        self.raised = () if policy is Background.MASK else raised
        self.level = np.zeros(len(ranked), dtype=np.int64)
        self._rows = _rows_by_photo(faces.photo)

    def states(self, unit: int) -> int:
        """As `Stage.states`: the codes, then the raised backgrounds."""
        return self.choices(unit) + len(self.raised)

    def set(self, unit: int, state: int) -> None:
        """Choose a code; or, beyond the codes, keep the code and raise the background."""
        codes = self.choices(unit)
        self.level[unit] = max(0, state - codes + 1)
        if state < codes:
            self.state[unit] = state

    def background(self, photo: int) -> tuple[Background, float]:
        """Return the policy of a photo and its strength: the strongest that a face in it needs."""
        level = int(self.level[self.unit[self._rows[photo]]].max())
        return self.raised[level - 1] if level else (self.policy, 1.0)

    def give_up(self, rows: I64) -> None:
        """Raise the background of faces that fail the last look; set aside those at the end."""
        units = np.unique(self.unit[rows])
        last = units[self.level[units] >= len(self.raised)]
        self.level[np.setdiff1d(units, last)] += 1
        ended = rows[np.isin(self.unit[rows], last)]
        if len(ended):
            self.quarantine(ended)

    def quarantine(self, rows: I64) -> I64:
        """Drop every photo in which one of the faces stands."""
        gone = np.flatnonzero(np.isin(self.faces.photo, self.faces.photo[rows]))
        self.gone[gone] = True
        return gone

    @one_thread()
    def probes(self, rows: I64) -> Probes:
        """Merge the photos in which the faces stand, and cut the faces out again."""
        found: dict[int, tuple[U8, F32]] = {}
        wanted = set(rows.tolist())
        for photo, image in self._photos(np.unique(self.faces.photo[rows])):
            for row in self._rows[photo]:
                if int(row) in wanted:
                    found[int(row)] = self._cut(image, int(row))
        cut = [found[int(row)] for row in rows]
        return Probes(
            crops=np.stack([image for image, _ in cut]),
            points=np.stack([points for _, points in cut]),
            of_row=np.arange(len(rows)),
        )

    def render_photo(self, photo: int) -> U8:
        """Merge every face of a photo, then apply its background policy once."""
        image = read_photo(self.faces.photos[photo])
        rows = self._rows[photo]
        for row in rows:
            others = tuple(self.faces.points[other] for other in rows if other != row)
            image = into_photo(
                image, self.faces.points[row], self._surrogate(int(row)), others=others
            )
        policy, strength = self.background(photo)
        if policy is Background.KEEP:
            return image
        meshes = tuple(self.placed(int(row)) for row in rows)
        return apply_background(image, meshes, policy, strength)

    def _photos(self, photos: I64) -> Iterator[tuple[int, U8]]:
        """Render photos on all cores, a few at a time."""
        for code in {self.code(int(row)) for photo in photos for row in self._rows[photo]}:
            self.painter(code)
        cores = cpu_count() or 1
        with ThreadPoolExecutor(cores) as pool:
            for start in range(0, len(photos), 4 * cores):
                part = [int(photo) for photo in photos[start : start + 4 * cores]]
                yield from zip(part, pool.map(self.render_photo, part), strict=True)

    def _cut(self, image: U8, row: int) -> tuple[U8, F32]:
        mesh = self.placed(row)
        matrix = face_transform(mesh, self.faces.size)
        return crop(image, matrix, self.faces.size), apply(matrix, mesh)

    def placed(self, row: int) -> F32:
        """Return the mesh of a face's surrogate as it stands in the photo."""
        return place(self._surrogate(row).points, self.faces.points[row])

    def _surrogate(self, row: int) -> Surrogate:
        drawn = self.painter(self.code(row))
        return Surrogate(drawn.images[0], drawn.points[0], drawn.masks[0])


def _rows_by_photo(photo: I32) -> dict[int, Sequence[int]]:
    """Return the faces of each photo, in their order."""
    found: dict[int, list[int]] = {}
    for row, index in enumerate(photo.tolist()):
        found.setdefault(index, []).append(row)
    return dict(found)
