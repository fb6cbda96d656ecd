"""All SQL of the project, in functions that take a session and never commit; no rule of ranking or
training.
"""
