"""Lines of `events.jsonl`: read whole, cleaned, understood.

Called by whatever reads what a trainer has written. A trainer may be another program or a broken
one, so nothing it writes raises: what cannot be understood becomes an alert that says so.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from backend.schemas.events import (
    TRAINER_LINE,
    AlertLine,
    MetricLine,
    TrainerLine,
)
from backend.schemas.numbers import finite

LONGEST_LINE_BYTES = 4 * 2**20
LARGEST_BATCH_LINES = 500
# Metric values of a batch: while it is stored, nobody else writes to SQLite.
LARGEST_BATCH_VALUES = 2000
# Steps and tokens stay exact in JSON, Python and the browser up to here.
_LARGEST_COUNT = 2**53
_MOST_VALUES = 1000
_LONGEST_TEXT = 2000


@dataclass(frozen=True)
class Batch:
    """What was read between two byte offsets."""

    lines: list[TrainerLine]
    start: int
    end: int


def read_batch(path: Path, start: int) -> Batch:
    """Whole lines from byte `start` on, a bounded number of them; nothing if there is no file."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            data = file.read(LONGEST_LINE_BYTES)
    except FileNotFoundError:
        return Batch([], start, start)
    if b"\n" not in data:
        if len(data) < LONGEST_LINE_BYTES:
            return Batch([], start, start)
        what = f"a line longer than {LONGEST_LINE_BYTES} bytes was left out"
        return Batch([_refusal(what)], start, start + len(data))
    whole = data[: data.rindex(b"\n") + 1].split(b"\n", LARGEST_BATCH_LINES)
    lines: list[TrainerLine] = []
    end, values = start, 0
    for line in whole[:-1]:
        parsed = parse(line) if line.strip() else None
        values += len(parsed.values) if isinstance(parsed, MetricLine) else 0
        if lines and values > LARGEST_BATCH_VALUES:
            break
        end += len(line) + 1
        if parsed is not None:
            lines.append(parsed)
    return Batch(lines, start, end)


def parse(line: bytes) -> TrainerLine:
    """The line, or an alert that says why it is none."""
    try:
        value = clean(_DECODER.decode(line.decode("utf-8", "replace")))
        parsed = TRAINER_LINE.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return _refusal(f"{where}: {first['msg']}")
    except (ValueError, RecursionError) as error:
        return _refusal(f"not valid JSON: {error}")
    problem = _out_of_range(parsed)
    return parsed if problem is None else _refusal(problem)


def _no_number(_word: str) -> None:
    """NaN and infinities are no JSON; an absent value is what they mean."""


# Made once: `json.loads` with an option makes one for every line.
_DECODER = json.JSONDecoder(parse_constant=_no_number)


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


def _out_of_range(line: TrainerLine) -> str | None:
    for name in ("step", "steps", "tokens", "attempt"):
        count = getattr(line, name, None)
        if isinstance(count, int) and not 0 <= count <= _LARGEST_COUNT:
            return f"{name} is {str(count)[:40]}; expected 0 to 2^53"
    if isinstance(line, MetricLine) and len(line.values) > _MOST_VALUES:
        return f"a metric line has {len(line.values)} values; the limit is {_MOST_VALUES}"
    return None


def _refusal(why: str) -> AlertLine:
    message = f"A line of events.jsonl is not valid: {clean_text(why)[:_LONGEST_TEXT]}"
    return AlertLine(level="warning", rule="event_line", message=message)
