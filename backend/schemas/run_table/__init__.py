"""The table of runs: what is changed about many of them, and what they are found by."""
