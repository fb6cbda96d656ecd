"""Statistics of held-out evaluations with their intervals; no training."""
