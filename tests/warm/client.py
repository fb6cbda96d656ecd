"""What stands where a program is told to start `python`: one that is warm does the work.

    python -I -S client.py SOCKET ([-P] -m MODULE | SCRIPT) [ARGUMENT...]
    python -I -S client.py SOCKET -u -c TEXT

`host.py` listens on the socket. It forks a process that gets the arguments, the environment, the
directory and the open files of this one; this one passes signals on and ends as the fork does. When
this one is killed, so is the fork. Standard library only: it begins in some ten milliseconds.

What differs from a python that is started:
- The fork is no descendant of whoever started this, and leads a process group of its own: a signal
  for the group of this is passed on to the fork alone, and to nothing that it has started.
- It goes on when this is stopped by SIGSTOP, and for a moment after this is killed: it may still be
  there when `wait` has told the end of this.
- What it uses is not counted as used by this.
- It ends by `os._exit`, after what was registered with `atexit`: nothing is torn down.
"""

import json
import os
import signal
import socket
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

_PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
# Beside those that are always there, what this process was given to keep open.
_STANDARD = (0, 1, 2)


def main(address: str, arguments: list[str]) -> NoReturn:
    """Have it done, and end as it ends."""
    files = [*_STANDARD, *_kept_open()]
    given = {
        "call": "",
        "arguments": arguments,
        "environment": dict(os.environ),
        "directory": os.getcwd(),
        "files": files,
    }
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as host:
        host.connect(address)
        socket.send_fds(host, [json.dumps(given).encode()], files)

        def pass_on(number: int, _frame: FrameType | None) -> None:
            with suppress(OSError):  # it has ended
                host.send(bytes([number]))

        for number in _PASSED_ON:
            signal.signal(number, pass_on)
        host.recv(16)  # The process id of the fork.
        end_as(host.recv(16))


def _kept_open() -> list[int]:
    found = [int(name) for name in os.listdir("/proc/self/fd")]
    return [fd for fd in found if fd not in _STANDARD and _is_kept_open(fd)]


def _is_kept_open(fd: int) -> bool:
    try:
        return os.get_inheritable(fd)
    except OSError:  # the folder that was listed
        return False


def end_as(told: bytes) -> NoReturn:
    """End with this exit code, or of the signal whose number it is below zero."""
    if not told:
        sys.exit("the warm python has ended")
    code = int(told)
    if code < 0:
        if -code in _PASSED_ON:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
