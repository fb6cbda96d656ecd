"""Verdicts on runs that optimise a policy: the rules, the signs of trouble, the gauges."""
