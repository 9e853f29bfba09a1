"""The faces room: photos in, one table of faces out.

`read` is the way in; `everyface.faces.align` and `everyface.faces.mesh` say where a face stands and
what its points are.
"""

from everyface.faces.faceset import FaceSet, Refusal
from everyface.faces.photo import find_photos, read_photo
from everyface.faces.reading import read

__all__ = ["FaceSet", "Refusal", "find_photos", "read", "read_photo"]
