"""The tables, one file per room of the store: columns, keys and constraints; no queries."""
