"""The tables, one file per folder of the store: columns, keys and constraints; no queries."""
