"""Which prompts snapshots have in common; how the data of runs differs is in differences."""
