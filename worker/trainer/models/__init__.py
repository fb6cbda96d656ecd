"""Loading, adapting and running language models, and the log-probabilities and heads on top; no
training loop.
"""
