"""What happens to everything that is not a new face."""

from __future__ import annotations

from enum import StrEnum

import cv2
import numpy as np

from everyface.arrays import F32, U8, Bool
from everyface.faces.mesh import OVAL
from everyface.merge.frame import smoothstep
from everyface.merge.pose import face_size


class Background(StrEnum):
    """How much of the photo round the new faces is kept, most first."""

    KEEP = "keep"
    BLUR = "blur"
    MEAN = "mean"
    MASK = "mask"


_GIVES = {
    Background.KEEP: "hair, ears, neck, clothes and place are the original's: whoever knows them"
    " can recognise the person by them, and so can a recogniser whose crop includes them",
    Background.BLUR: "the colours of hair, clothes and place and the outline of the head are still"
    " the original's, without detail",
    Background.MEAN: "the photo's average colour is the original's; nothing of hair, clothes or"
    " place can be seen",
    Background.MASK: "nothing of the background is kept; where in the photo the face stands, how"
    " large it is and how it is turned and lit are still the original's",
}

GREY = 128
BLUR = 0.2
"""How far a full blur reaches, as a share of the face's size."""
FADE = {Background.BLUR: 0.15}
RIM = 0.03
"""How far inside its outline a face is full: a blur fades in, flat colours end at the rim."""


def gives_away(policy: Background | str) -> str:
    """Return one sentence on what a background policy still tells about the original."""
    return _GIVES[Background(policy)]


def apply_background(
    photo: U8,
    faces: tuple[F32, ...] | list[F32],
    policy: Background | str,
    strength: float = 1.0,
) -> U8:
    """Treat everything outside the faces of a merged photo.

    Parameters
    ----------
    photo
        The photo with all new faces in it: no policy ever sees an original face.
    faces
        Meshes of the new faces in photo pixels, (478, 3) each.
    policy
        ``keep`` nothing happens; ``blur`` removes all detail finer than a good part of the
        largest face; ``mean`` one flat colour, the mean of what is hidden; ``mask`` neutral grey.
    strength
        Share of the full blur, as the gate raises it step by step.
    """
    policy = Background(policy)
    if policy is Background.KEEP:
        return photo.copy()
    alpha = np.zeros(photo.shape[:2], np.float32)
    for mesh in faces:
        alpha = np.maximum(alpha, _oval(mesh, photo.shape[:2], FADE.get(policy, RIM)))
    if policy is Background.BLUR:
        size = max((face_size(m) for m in faces), default=max(photo.shape) / 8)
        behind = _blurred(photo, max(BLUR * strength * size, 1.0))
    elif policy is Background.MEAN:
        hidden = alpha < 0.5
        colour = photo[hidden].mean(0) if hidden.any() else photo.mean((0, 1))
        behind = np.broadcast_to(np.rint(colour).astype(np.float32), photo.shape)
    else:
        behind = np.full(photo.shape, GREY, np.float32)
    mixed = behind + alpha[..., None] * (photo - behind)
    return np.clip(np.rint(mixed), 0, 255).astype(np.uint8)


def _oval(mesh: F32, shape: tuple[int, int], fade: float) -> F32:
    """Draw a face's outline: 1 inside, falling smoothly to 0 at the edge."""
    outline = np.round(mesh[OVAL, :2] * 16).astype(np.int32)
    mask: U8 = np.zeros(shape, np.uint8)
    cv2.fillPoly(mask, [outline], 255, shift=4)
    inside: Bool = mask > 0
    depth = cv2.distanceTransform(np.pad(inside.astype(np.uint8), 1), cv2.DIST_L2, 5)[1:-1, 1:-1]
    return smoothstep(depth / max(fade * face_size(mesh), 1.0))


def _blurred(photo: U8, sigma: float) -> F32:
    """Blur at a low resolution, since no detail is left anyway."""
    scale = min(1.0, 4.0 / sigma)
    shape = (max(2, round(photo.shape[1] * scale)), max(2, round(photo.shape[0] * scale)))
    low = cv2.resize(photo, shape, interpolation=cv2.INTER_AREA).astype(np.float32)
    low = cv2.GaussianBlur(low, (0, 0), sigma * scale, borderType=cv2.BORDER_REFLECT)
    large: F32 = cv2.resize(low, photo.shape[1::-1], interpolation=cv2.INTER_CUBIC)
    return large
