"""What columns are made of: names of constraints, UTC times, JSON and numbers on both databases.

Every table beside this file is built on it; migrations use `Base` and `UtcDateTime`. `number` is
the order of creation (no order depends on clocks), `id` the public name that foreign keys point
to. Times are aware UTC and always passed as parameters. Relationships are not declared: queries say
what they join.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Dialect,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    TypeDecorator,
    text,
)
from sqlalchemy import DateTime as SqlDateTime
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

NAMING = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class UtcDateTime(TypeDecorator[datetime]):
    """An aware UTC datetime; SQLite forgets the zone, so it is put back on reading."""

    impl = SqlDateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"found a naive datetime {value!r}; pass an aware UTC one")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


# Long lists of numbers, read seldom: JSONB takes twice the room for them.
PlainJson = JSON(none_as_null=True)
Json = JSON().with_variant(JSONB(), "postgresql")
# SQLite numbers rows by itself only for a column of type INTEGER.
Number = BigInteger().with_variant(Integer(), "sqlite")


class Base(DeclarativeBase):
    """Root of all tables."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {  # noqa: RUF012  (SQLAlchemy reads a plain class attribute)
        dict[str, Any]: Json,
        list[Any]: Json,
        list[str]: Json,
        datetime: UtcDateTime,
        float: Float,
    }


def index_where(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """An index of the rows that a condition picks; queries use it if they say the same words."""
    condition = text(where)
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


class Numbered:
    """What every listed row has: order of creation, public id, time of creation."""

    number: Mapped[int] = mapped_column(Number, primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]


class FromImport:
    """What every row has that a file may have brought: the import, None for rows made here.

    `backend.store.visibility` hides the rows of an import that has not ended.
    """

    import_id: Mapped[str | None] = mapped_column(String(64))
