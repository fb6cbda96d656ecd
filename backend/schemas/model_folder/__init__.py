"""What a folder of a model must look like, for service and trainer alike; no file is read here."""
