"""The table of runs: changes to many of them and what is found; one run is in schemas.runs."""
