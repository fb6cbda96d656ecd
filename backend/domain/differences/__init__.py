"""What runs do not have in common besides their configs: code, machine, data; no queries."""
