"""Tables of results: what groups of seeds measured and how it is written down; no queries."""
