"""What the metrics of a run say of it: a verdict, its gauges and what happened; pure rules."""
