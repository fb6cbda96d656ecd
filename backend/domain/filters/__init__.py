"""The language of filters for runs, from text to a tree; its SQL is in the store."""
