"""The table of runs: what runs are found by, filtered, sorted and paged; no changes to runs."""
