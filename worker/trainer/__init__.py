"""The trainer, a program of its own, from a config and its files to a model; no queue, no database,
no web.
"""
