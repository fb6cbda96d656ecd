"""Public identifiers: a prefix that says what it is, and 100 random bits.

Called by store functions that create rows. Ids never become paths by themselves and carry no order;
order is the `number` column. `in_parts` cuts long lists of ids or names for statements and answers
that may hold only so many.
"""

import secrets
from collections.abc import Iterator, Sequence

_ALPHABET = b"abcdefghijkmnpqrstuvwxyz23456789"
# 256 is a multiple of 32, so every letter is as likely; one call for all of them, because large
# imports spent half their time here.
_LETTERS = _ALPHABET * 8


def new_id(prefix: str) -> str:
    """A fresh id such as `run_k7w2...` with 20 characters of 32 letters and digits."""
    return f"{prefix}_{secrets.token_bytes(20).translate(_LETTERS).decode('ascii')}"


def in_parts(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """The same names in their order, at most `size` at a time."""
    for begin in range(0, len(names), size):
        yield names[begin : begin + size]
