"""Pages of a list in order of creation, newest first unless asked otherwise.

Every list query in the store ends in `page_of`, or in `filled_page` where a row may be long; the
cursor is the `number` of the last row sent, so rows that are added meanwhile never shift a page.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import to_json
from sqlalchemy import Select
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.errors import InvalidInput
from backend.schemas.paging import Listing

Row = TypeVar("Row")
Found = TypeVar("Found")
Answer = TypeVar("Answer", bound=BaseModel)

# JSON of a page beyond its first item: five hundred of the longest prompts would be a gigabyte.
MOST_BYTES = 4 << 20
# Rows that are fetched at once, at first and later: what is next may be longer than all before.
_FIRST_ROWS, _MOST_ROWS = 16, 32


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
    return kept, _cursor(kept[-1])


def filled_page(
    session: Session,
    statement: Select[Row],
    number: InstrumentedAttribute[int],
    page: Page,
    answers: Callable[[Sequence[Row]], Sequence[Answer]],
) -> Listing[Answer]:
    """A page whose JSON has at most `MOST_BYTES` beyond its first item: `answers` makes the items.

    So it may have fewer than `page.limit`, and a next page all the same. Raises InvalidInput for a
    cursor that no page has given out.
    """

    def _fetched(last: tuple[Row, Answer] | None, limit: int) -> Sequence[tuple[Row, Answer]]:
        cursor = page.cursor if last is None else _cursor(last[0])
        rows, _ = page_of(session, statement, number, replace(page, limit=limit, cursor=cursor))
        return list(zip(rows, answers(rows), strict=True))

    found, has_more = filled(_fetched, page.limit, lambda one: len(to_json(one[1])))
    items = [answer for _, answer in found]
    return Listing(items=items, next_cursor=_cursor(found[-1][0]) if has_more else None)


def filled(
    fetched: Callable[[Found | None, int], Sequence[Found]],
    limit: int,
    size: Callable[[Found], int],
) -> tuple[list[Found], bool]:
    """Return at most `limit` of what is fetched beyond the last, and whether there is more.

    All but the first have `MOST_BYTES` together at most. Few are fetched at once, as nobody knows
    how long they are.
    """
    found: list[Found] = []
    n_bytes, n_rows = 0, _FIRST_ROWS
    while True:
        wanted = min(n_rows, limit + 1 - len(found))
        rows = fetched(found[-1] if found else None, wanted)
        for one in rows:
            n_bytes += size(one) if found else 0
            if len(found) == limit or n_bytes > MOST_BYTES:
                return found, True
            found.append(one)
        if len(rows) < wanted:
            return found, False
        n_rows = _MOST_ROWS


def _cursor(last: Any) -> str:
    return f"n{last.number}"


def number_in(cursor: str) -> int:
    """The number of the last row sent. Raises InvalidInput for a cursor that no page has given out.

    What `str.isdigit` takes for a digit, such as ² or ٣, is none, and no number is too large for a
    column.
    """
    digits = cursor.removeprefix("n")
    if cursor.startswith("n") and digits.isascii() and digits.isdigit() and len(digits) < 19:
        return int(digits)
    raise not_issued(cursor)


def not_issued(cursor: str) -> InvalidInput:
    """The error for a cursor that no page has given out."""
    return InvalidInput(
        f"the cursor {cursor[:40]!r} was not issued by this list",
        advice="Pass the next_cursor of the previous page, or leave the cursor out.",
    )
