"""The merge room: a new face into its photo, and what happens to the rest of the photo."""

from everyface.merge.background import Background, apply_background, gives_away
from everyface.merge.photo import Surrogate, into_photo
from everyface.merge.pose import place

__all__ = ["Background", "Surrogate", "apply_background", "gives_away", "into_photo", "place"]
