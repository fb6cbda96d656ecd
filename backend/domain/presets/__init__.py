"""Named starting points for run configs, and who gives each of their settings."""
