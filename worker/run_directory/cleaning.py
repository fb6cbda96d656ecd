"""What a trainer has written, without what the databases cannot keep.

Called by whatever reads a run directory: a trainer may be another program or a broken one.
"""

from typing import Any

from backend.schemas.numbers import finite


def clean(value: Any) -> Any:
    """The same value with only what both databases can keep."""
    if isinstance(value, float):
        return finite(value)
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(key): clean(item) for key, item in value.items()}
    return value


def clean_text(text: str) -> str:
    """Text without NUL and without half surrogate pairs, which no database keeps."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
