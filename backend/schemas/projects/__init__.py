"""What belongs to a project and is no record of its data: its members, its guidelines."""
