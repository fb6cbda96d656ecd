"""How much an uploaded file may hold, in bytes, rows and columns."""

from backend.errors import TooLarge

MIB = 1 << 20
LARGEST_FILE = 128 * MIB
# One row, whatever the format: a line of JSONL, an element of JSON, the cells of CSV or Parquet.
LARGEST_ROW = 2 * MIB
LARGEST_JSON = 64 * MIB
LARGEST_UNPACKED = 1024 * MIB
MOST_ROWS = 1_000_000
MOST_COLUMNS = 1000


def check_columns(count: int) -> None:
    """Raise TooLarge for a file with more columns than a record can need."""
    if count > MOST_COLUMNS:
        raise TooLarge(
            f"the file has {count} columns; the limit is {MOST_COLUMNS}",
            advice="Leave out the columns that name nothing of a record.",
        )


def check_rows(count: int, *, is_all: bool) -> None:
    """Raise TooLarge for a file with so many rows; not `is_all`: there may be more."""
    if count > MOST_ROWS:
        found = f"{count}" if is_all else f"more than {MOST_ROWS}"
        raise TooLarge(
            f"the file has {found} rows; the limit is {MOST_ROWS}",
            advice="Split the file and send the parts one after another.",
        )
