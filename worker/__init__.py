"""The background side: a Celery process that claims and supervises runs, and the trainer that it
starts.
"""
