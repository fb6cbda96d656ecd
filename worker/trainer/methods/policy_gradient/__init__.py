"""The policy-gradient loop for all estimators; its mathematics is in losses and advantages."""
