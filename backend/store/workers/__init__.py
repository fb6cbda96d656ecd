"""Queries over workers and what they report about themselves; claims of runs are in store.runs."""
