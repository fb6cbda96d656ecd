"""Which hosts and origins are this service's own.

Called by the edge of the application and by `backend.auth`. Pure: what the operator has set comes
in, what a request says is compared with it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

_PORTS = {"http": 80, "https": 443}
# With the name of an interface behind a % sign.
_LONGEST_ADDRESS = 100


@dataclass(frozen=True)
class OwnAddress:
    """The names under which browsers may reach the service.

    `public_url`: the address that the operator has published, if any. `hosts`: further host names;
    `*.example.org` stands for every name below example.org.
    """

    public_url: str | None = None
    hosts: Collection[str] = ()

    def answers_to(self, host: str) -> bool:
        """Whether a request with this Host header is for this service.

        A page of another site can have its own name resolved to this machine (DNS rebinding) and
        then reads answers as its own; it cannot do so with an address, nor with localhost.
        """
        name = _host_name(host)
        if name is None:
            return False
        if name in ("", "localhost") or is_address(name):
            return True
        published = urlsplit(self.public_url).hostname if self.public_url else None
        return name == published or any(_fits(name, known) for known in self.hosts)

    def is_own(self, origin: str, *, scheme: str, host: str | None) -> bool:
        """Whether this Origin header is that of a page of this service, reached as said.

        Scheme, host and port are compared (RFC 6454); 80 and 443 may be left out.
        """
        ours = [f"{scheme}://{host}", *([self.public_url] if self.public_url else [])]
        asked = _origin(origin)
        return asked is not None and asked in [_origin(own) for own in ours]


def _origin(url: str) -> tuple[str, str, int | None] | None:
    parts = _split(url)
    if parts is None or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def _host_name(host: str) -> str | None:
    """The name in a Host header, without its port; None if it is malformed."""
    parts = _split(f"//{host}")
    return None if parts is None or parts.netloc != host else (parts.hostname or "").rstrip(".")


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # raises where it is no number
    except ValueError:
        return None
    return None if "@" in parts.netloc else parts


def is_address(name: str) -> bool:
    """Whether this is an IP address and no name."""
    return len(name) <= _LONGEST_ADDRESS and _is_address(name)


# Every request asks this of the host that it names and of the one that it comes from.
@lru_cache(1000)
def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _fits(name: str, known: str) -> bool:
    known = known.lower().rstrip(".")
    return name.endswith(known[1:]) if known.startswith("*.") else name == known
