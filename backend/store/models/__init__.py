"""The registry of models, and what of their files may be deleted; no file is touched here."""
