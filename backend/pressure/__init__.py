"""How one process is shared when many ask at once: turns, waits for passwords, who seems to be
asking, who may still have a long answer, who waits for a comparison, and JSON that is too much; no
permission is given here.
"""
