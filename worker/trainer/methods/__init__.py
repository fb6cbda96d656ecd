"""One training loop per method, told from top to bottom; no method imports another."""
