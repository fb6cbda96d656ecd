"""`podium up` whose API and worker begin with their libraries loaded: the program.

    python -m tests.warm.up EXECUTABLE

EXECUTABLE stands for `python` (`hosts.executable`).
"""

import sys

from backend.cli import main

if __name__ == "__main__":
    sys.executable = sys.argv[1]
    sys.exit(main(["up"]))
