"""What keeps one caller from stopping the others, beside turns: addresses, secrets that were valid,
who may still have a long answer, and JSON that is too much.
"""
