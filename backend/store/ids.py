"""Public identifiers: a prefix that says what it is, and 100 random bits.

Called by store functions that create rows. Ids never become paths by themselves and carry no order;
order is the `number` column.
"""

import secrets

_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"


def new_id(prefix: str) -> str:
    """A fresh id such as `run_k7w2...` with 20 characters of 32 letters and digits."""
    return f"{prefix}_{''.join(secrets.choice(_ALPHABET) for _ in range(20))}"
