"""What forks do in the tests of warm processes."""

import json
import os
import sys
import time
from collections.abc import Sequence


def tell(arguments: Sequence[str]) -> int:
    """Say what this process is, and end with the code that is asked for."""
    said = {
        "read": sys.stdin.read(),
        "named": os.environ.get("NAMED"),
        "leads": os.getsid(0) == os.getpid(),
        "loaded": [name for name in ("sqlalchemy", "torch") if name in sys.modules],
    }
    print(json.dumps(said))  # noqa: T201
    return int(arguments[0])


def wait(_: Sequence[str]) -> int:
    """Wait for a signal."""
    print("it waits", flush=True)  # noqa: T201
    time.sleep(600)
    return 0


def fail(_: Sequence[str]) -> int:
    """End of an error."""
    raise LookupError("nothing is found")
