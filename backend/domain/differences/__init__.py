"""What runs do not have in common besides their configs: code and machine, data."""
