"""The walk from faces to a certified release."""

from everyface.pipeline.options import Form, Options
from everyface.pipeline.release import Release, anonymize
from everyface.pipeline.run import Summary, run
from everyface.pipeline.walk import Walked, walk

__all__ = ["Form", "Options", "Release", "Summary", "Walked", "anonymize", "run", "walk"]
