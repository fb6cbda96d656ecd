"""What the service knows of whoever sends requests before and after it trusts them: addresses,
connections, and who may still have an open answer.
"""
