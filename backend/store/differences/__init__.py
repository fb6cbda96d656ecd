"""What runs do not have in common besides their configs, read from the store."""
