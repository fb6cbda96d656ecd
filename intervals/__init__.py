"""How far a number may be off, as pure functions for all sides; no data, no plots."""
