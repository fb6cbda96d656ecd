"""The background side: a Celery process that claims and supervises runs; no routes."""
