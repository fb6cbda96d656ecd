"""Runs that differ by their seed alone: what they have in common, and whether others are better."""
