"""What a fork server has loaded stays to the end: no fork of it looks through it for garbage.

The last of the modules that the fork server of `tests/warm.py` loads.
"""

import gc
from contextlib import suppress

from pydantic import ValidationError

from backend.main import _routes
from backend.schemas.run_directory.events import TRAINER_LINE
from backend.schemas.training import parse_run_config

# What programs build when they first use it: once for all forks.
for route in _routes():
    getattr(route, "dependant", None)
TRAINER_LINE.rebuild()
with suppress(ValidationError):
    parse_run_config({})

gc.collect()
gc.freeze()
