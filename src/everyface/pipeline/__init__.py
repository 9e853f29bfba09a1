"""The walk from faces to a certified release."""

from everyface.pipeline.options import Form, Options
from everyface.pipeline.release import Release, anonymize
from everyface.pipeline.run import Secrets, Summary, run
from everyface.pipeline.walk import Walked, walk

__all__ = ["Form", "Options", "Release", "Secrets", "Summary", "Walked", "anonymize", "run", "walk"]
