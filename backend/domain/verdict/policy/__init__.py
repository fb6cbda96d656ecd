"""Verdicts on runs that optimise a policy: rules, signs of trouble, gauges; no other methods."""
