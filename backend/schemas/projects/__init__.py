"""A project and what belongs to it: members, guidelines, practice; no records of its data."""
