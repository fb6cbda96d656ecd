"""Tables of results: what was measured of groups of seeds, and how it is written down."""
