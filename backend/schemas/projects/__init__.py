"""What belongs to a project and is no record of its data: members, guidelines, practice."""
