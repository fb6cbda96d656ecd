"""The trainer, a library and a program of its own: torch and backend.schemas; no queue, no
database, no web.
"""
