"""What a run directory holds, for trainer, worker and service alike; no file is read here."""
