"""Queries over a project's data, from prompts and judgments to snapshots; nothing of runs."""
