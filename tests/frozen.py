"""What a fork server has loaded stays to the end: no fork of it looks through it for garbage.

The last of the modules that the fork server of `tests/warm.py` loads.
"""

import gc

gc.collect()
gc.freeze()
