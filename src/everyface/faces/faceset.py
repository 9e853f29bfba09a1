"""The table that travels: one row a face, columns contiguous, arrays memory-mappable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from everyface.arrays import F32, I32, I64, U8, AnyArray
from everyface.errors import InputError

POINTS = 478

GIVEN = "given_"
"""Goes before a label of the user's own table where a computed one has its name already."""


@dataclass(frozen=True)
class Refusal:
    """A photo that must not be released, and the one sentence that says why."""

    photo: int
    reason: str


class Crops:
    """Aligned faces that may lie on disk: choosing rows reads nothing, indexing reads the rows.

    Parameters
    ----------
    held
        (m, h, w, 3) uint8, in memory or memory-mapped.
    rows
        Which of them, in this order; all when None.

    Examples
    --------
    >>> crops = Crops(np.zeros((9, 4, 4, 3), np.uint8)).take(np.array([5, 0, 2]))
    >>> len(crops), crops[1].shape, crops[:2].shape
    (3, (4, 4, 3), (2, 4, 4, 3))
    """

    def __init__(self, held: U8, rows: I64 | None = None) -> None:
        if held.ndim != 4 or held.shape[-1] != 3 or held.dtype != np.uint8:
            raise InputError(
                f"crops are {held.dtype} of shape {held.shape}, expected uint8 (n, h, w, 3)"
            )
        self._held = held
        self._rows = np.arange(len(held), dtype=np.int64) if rows is None else rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, key: int | slice | AnyArray) -> U8:
        return np.asarray(self._held[self._rows[key]])

    def __iter__(self) -> Iterator[U8]:
        return (np.asarray(self._held[row]) for row in self._rows)

    @property
    def shape(self) -> tuple[int, ...]:
        """As of the array that ``crops[:]`` reads."""
        return (len(self), *self._held.shape[1:])

    def take(self, rows: AnyArray) -> Crops:
        """Choose rows (indices or a mask)."""
        return Crops(self._held, self._rows[rows])


@dataclass(frozen=True)
class FaceSet:
    """Faces found in photos.

    All coordinates are pixels of the photo *after* its EXIF orientation was applied, x to the
    right and y down, pixel centres at whole numbers.

    Attributes
    ----------
    photos
        Every photo that was asked for, in the order given; `photo`, `sizes` and `refused` index it.
    sizes
        Width and height of every photo, (0, 0) where it could not be read.
    photo
        Row → index into `photos`.
    box
        Row → x0, y0, x1, y1.
    points
        Row → 478 mesh points (x, y, z), z in the unit of x, smaller is nearer.
    pose
        Row → yaw, pitch, roll in degrees; 0, 0, 0 looks into the camera.
    score
        Row → the detector's confidence, 0 to 1.
    quality
        Row → 0 (useless) to 1 (sharp, large, frontal).
    subject
        Row → index into `subjects`: who it is. Many photos of one person are one subject.
    crops
        Row → the face in the `FACE` frame of `everyface.faces.align`, uint8 RGB, read on demand.
    labels
        Name → one value a row.
    refused
        Photos that were given but cannot be released whole.
    vectors
        Recogniser → one vector a row, kept once `everyface.faces.identity.embedded` made them.
    """

    photos: tuple[Path, ...]
    sizes: I32
    photo: I32
    box: F32
    points: F32
    pose: F32
    score: F32
    quality: F32
    subject: I32
    subjects: tuple[str, ...]
    crops: Crops
    labels: Mapping[str, AnyArray] = field(default_factory=dict)
    refused: tuple[Refusal, ...] = ()
    vectors: dict[str, F32] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        n = len(self.photo)
        shapes = {
            "sizes": (len(self.photos), 2),
            "box": (n, 4),
            "points": (n, POINTS, 3),
            "pose": (n, 3),
            "score": (n,),
            "quality": (n,),
            "subject": (n,),
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise InputError(
                    f"FaceSet.{name} has shape {getattr(self, name).shape}, expected {shape}"
                )
        if len(self.crops) != n:
            raise InputError(f"FaceSet.crops has shape {self.crops.shape}, expected ({n}, h, w, 3)")
        for name, values in {**self.labels, **self.vectors}.items():
            if len(values) != n:
                raise InputError(f"label {name!r} has {len(values)} values for {n} faces")

    def __len__(self) -> int:
        return len(self.photo)

    @property
    def size(self) -> int:
        """Side of the square crops in pixels."""
        return int(self.crops.shape[1])

    @property
    def n_subjects(self) -> int:
        """How many distinct people have at least one row."""
        return len(np.unique(self.subject))

    def take(self, rows: AnyArray) -> FaceSet:
        """Return the given rows (indices or a mask), with all photos and subjects kept as named."""
        return replace(
            self,
            photo=self.photo[rows],
            box=self.box[rows],
            points=self.points[rows],
            pose=self.pose[rows],
            score=self.score[rows],
            quality=self.quality[rows],
            subject=self.subject[rows],
            crops=self.crops.take(rows),
            labels={name: values[rows] for name, values in self.labels.items()},
            vectors={name: values[rows] for name, values in self.vectors.items()},
        )

    def blocks(self, size: int = 256) -> Iterator[FaceSet]:
        """Yield the rows in blocks, so that only one block's crops are in memory."""
        for start in range(0, len(self), size):
            yield self.take(np.arange(start, min(start + size, len(self))))

    def with_labels(self, **labels: AnyArray) -> FaceSet:
        """Return the same faces with more labels."""
        return replace(self, labels={**self.labels, **labels})
