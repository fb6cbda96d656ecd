"""A project, and what belongs to it and is no record of its data: members, guidelines, practice."""
