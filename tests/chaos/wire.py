"""A network of its own for one worker, and the wire to it, which can be cut. Needs root."""

import itertools
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

HOST = "10.213.77.1"
_THERE = "10.213.77.2"
_numbers = itertools.count()


class Wire:
    """Two ends: one in this network, one in a network namespace."""

    def __init__(self, name: str) -> None:
        self._name = name
        # How to start a program at the other end.
        self.launcher = ["ip", "netns", "exec", name]

    def lay(self) -> None:
        """Make the namespace and the wire."""
        near, far = f"{self._name}-n", f"{self._name}-f"
        _ip("netns", "add", self._name)
        _ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", self._name)
        _ip("address", "add", f"{HOST}/30", "dev", near)
        _ip("link", "set", near, "up")
        _ip("-n", self._name, "address", "add", f"{_THERE}/30", "dev", far)
        for device in ("lo", far):
            _ip("-n", self._name, "link", "set", device, "up")

    def cut(self) -> None:
        """From now on packets are lost both ways, and nobody is told."""
        _ip("link", "set", f"{self._name}-n", "down")

    def mend(self) -> None:
        """Packets arrive again."""
        _ip("link", "set", f"{self._name}-n", "up")

    def take_away(self) -> None:
        """Remove the wire and the namespace."""
        _ip("link", "delete", f"{self._name}-n")
        _ip("netns", "delete", self._name)


@contextmanager
def wire() -> Iterator[Wire]:
    """A wire that is gone afterwards."""
    made = Wire(f"pod{os.getpid()}-{next(_numbers)}")
    made.lay()
    try:
        yield made
    finally:
        made.take_away()


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(arguments)}: {done.stderr}"
