"""The language of filters for runs, from its text to a tree; docs/filters.md describes it."""
