"""Metric points, their buckets and the curves drawn from both; nothing else of a run."""
