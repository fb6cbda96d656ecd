"""Which prompts snapshots have in common, by their words: ids differ by project."""
