"""The web service, its rules and its store: everything but training; nothing here imports torch or
the worker.
"""
