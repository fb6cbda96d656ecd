"""Pages of a list in order of creation, newest first unless asked otherwise.

Every list query in the store ends in `page_of`; the cursor is the `number` of the last row sent, so
rows that are added meanwhile never shift a page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Select
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.errors import InvalidInput

Row = TypeVar("Row")


@dataclass(frozen=True)
class Page:
    """Which part of a list is wanted: at most `limit` rows beyond `cursor`."""

    limit: int = 50
    cursor: str | None = None
    oldest_first: bool = False


def page_of(
    session: Session,
    statement: Select[Row],
    number: InstrumentedAttribute[int],
    page: Page,
) -> tuple[Sequence[Row], str | None]:
    """The rows of one page and the cursor of the next, None at the end.

    Raises InvalidInput for a cursor that no page has given out.
    """
    if page.cursor is not None:
        beyond = number_in(page.cursor)
        statement = statement.where(number > beyond if page.oldest_first else number < beyond)
    order = number.asc() if page.oldest_first else number.desc()
    rows = session.scalars(statement.order_by(order).limit(page.limit + 1)).all()
    if len(rows) <= page.limit:
        return rows, None
    kept = rows[: page.limit]
    last: Any = kept[-1]
    return kept, f"n{last.number}"


def number_in(cursor: str) -> int:
    """The number of the last row sent. Raises InvalidInput for a cursor that no page has given out.

    What `str.isdigit` takes for a digit, such as ² or ٣, is none, and no number is too large for a
    column.
    """
    digits = cursor.removeprefix("n")
    if cursor.startswith("n") and digits.isascii() and digits.isdigit() and len(digits) < 19:
        return int(digits)
    raise InvalidInput(
        f"the cursor {cursor[:40]!r} was not issued by this list",
        advice="Pass the next_cursor of the previous page, or leave the cursor out.",
    )
