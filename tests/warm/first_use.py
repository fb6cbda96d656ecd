"""What programs build when they first use it: built by the host, once for all of its forks."""

from contextlib import suppress

from pydantic import ValidationError

from backend.main import _routes
from backend.schemas.run_directory.events import TRAINER_LINE
from backend.schemas.training import parse_run_config

for route in _routes():
    getattr(route, "dependant", None)
TRAINER_LINE.rebuild()
with suppress(ValidationError):
    parse_run_config({})
