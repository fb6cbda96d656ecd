"""Switch garbage collection off while a program loads its modules, which stay to its end.

The entry points of processes load their modules between `begin_loading` and `end_loading`. Python
would look through all of them again and again meanwhile, which takes a tenth of their start.
"""

import gc


def begin_loading() -> None:
    """Stop garbage collection."""
    gc.disable()


def end_loading() -> None:
    """Exclude the objects made so far from garbage collection, and start it again."""
    gc.freeze()
    gc.enable()
