"""Queries over runs: their moves, supervision, events, checkpoints, samples, logs and outputs; no
curves.
"""
