"""How far a number may be off, as pure functions that service, trainer and scripts share."""
