"""Named starting points for run configs, and who gives each setting; no defaults."""
