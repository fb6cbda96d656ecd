"""What metrics mean, which method writes them and what they say of a run; no rule that judges."""
