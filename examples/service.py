"""Which service a script speaks to: the one that it is told, or that of a data directory."""

import argparse
import json
import os
from pathlib import Path

from podium import Podium


class NoService(RuntimeError):
    """No service can be spoken to; the message says why and what to do."""


def arguments_of(description: str) -> argparse.ArgumentParser:
    """A parser that knows `--data-dir`, `--url` and `--key`."""
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    data_dir = Path(os.environ.get("PODIUM_DATA_DIR", "data"))
    data_help = "data directory of the service; default: %(default)s"
    url_help = "address of the service; default: that of the server in DATA_DIR"
    parser.add_argument("--data-dir", type=_folder, default=_folder(data_dir), help=data_help)
    parser.add_argument("--url", default=os.environ.get("PODIUM_URL"), help=url_help)
    parser.add_argument("--key", help="an administrator's API key; default: DATA_DIR/admin.key")
    return parser


def connect(arguments: argparse.Namespace) -> Podium:
    """A client of the service. Raises NoService."""
    server, key_file = arguments.data_dir / "server.json", arguments.data_dir / "admin.key"
    url = arguments.url
    if url is None:
        if not server.is_file():
            raise NoService(
                f"no service is running on {arguments.data_dir}; start `podium up`, or name the "
                "address of a service with --url"
            )
        url = json.loads(server.read_text("utf-8"))["url"]
    if arguments.key is None and not key_file.is_file():
        raise NoService(f"{key_file} is missing; give an administrator's key with --key")
    return Podium(url, arguments.key or key_file.read_text("utf-8").strip())


def _folder(path: str | Path) -> Path:
    return Path(path).expanduser().resolve()
