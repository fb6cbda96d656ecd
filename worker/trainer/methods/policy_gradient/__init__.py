"""The policy-gradient loop and its parts, for all estimators; the mathematics is in losses and
advantages.
"""
