"""What several runs have in common and what not, as the API speaks of it; one run is in
schemas.runs.
"""
