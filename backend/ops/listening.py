"""The socket that the API listens on, bound by whoever starts it."""

import socket
from ipaddress import ip_address

from backend.errors import InvalidInput, Unavailable
from backend.settings import Settings

# Connections that the kernel keeps until they are taken.
BACKLOG = 2048


def listen(settings: Settings) -> socket.socket:
    """A listening socket at the address of the settings.

    Raises InvalidInput if others could read on the way what is sent there, and Unavailable if the
    address is taken or not of this machine.
    """
    if not (_is_loopback(settings.host) or settings.is_public_https or settings.insecure):
        raise InvalidInput(
            f"PODIUM_HOST is {settings.host}, so other machines can reach the API, and "
            f"PODIUM_PUBLIC_URL is {settings.public_url or 'not set'}: keys and passwords would "
            "cross the network unencrypted",
            advice="Put a proxy with TLS in front and set PODIUM_PUBLIC_URL to its https address. "
            "On a network that you trust, set PODIUM_INSECURE=1.",
        )
    return _bound(settings.host, settings.port)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Said, not left to the kernel: asyncio sends at once (TCP_NODELAY) only where it knows the
    # protocol. Otherwise the body of an answer waits 40 ms until its head is acknowledged.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise Unavailable(
            f"cannot listen on {host}:{port}: {error.strerror}",
            advice="Set PODIUM_PORT to another port, or to 0 for a free one; PODIUM_HOST must be "
            "an address of this machine.",
        ) from error
    listener.listen(BACKLOG)
    return listener


def url_of(listener: socket.socket) -> str:
    """The address under which this machine reaches the socket."""
    host, port = listener.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


def reach_of(listener: socket.socket) -> str:
    """Who can connect to the socket, for the person who starts the service."""
    host, port = listener.getsockname()[:2]
    if _is_loopback(host):
        return "this machine alone"
    where = "every address of this machine" if host in ("0.0.0.0", "::") else host
    return f"other machines too: it listens on {where}, port {port}"
