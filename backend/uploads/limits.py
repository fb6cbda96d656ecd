"""How much an uploaded file may hold, in bytes, rows and columns."""

MIB = 1 << 20
LARGEST_FILE = 128 * MIB
# One row, whatever the format: a line of NDJSON, an element of JSON, the cells of CSV or Parquet.
LARGEST_ROW = 2 * MIB
LARGEST_JSON = 64 * MIB
LARGEST_UNPACKED = 1024 * MIB
MOST_ROWS = 1_000_000
MOST_COLUMNS = 1000
