"""Records of a run directory as token ids, and how sequences are batched; no models."""
