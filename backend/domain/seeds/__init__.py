"""Runs that differ by their seed alone: what they share, and whether others are better; no verdict
on one run.
"""
