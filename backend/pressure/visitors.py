"""Who seems to send a request, before anybody has checked: an address, and whose secret it may be.

Called by the edge of the application, `backend.phases` and the server. Only fairness stands on it,
never a permission.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from backend.domain.own_address import is_address

Network = IPv4Network | IPv6Network

# Persons who are not known yet begin with this.
UNKNOWN = "unknown:"
# Secrets that are remembered; who is forgotten counts as unknown for one request.
MOST_KNOWN = 10_000
# Of IPv6 addresses, one customer has at least so many bits.
_HOST_BITS = 64


@dataclass(eq=False)
class Connection:
    """One connection to the server, and who has shown valid credentials on it last."""

    # Called after each change of `person`, in the server's loop: connections are shared by person.
    on_change: Callable[[], None] = lambda: None
    person: str | None = None

    def belongs_to(self, person: str | None) -> None:
        """Note who has shown valid credentials on it; None: what was shown is not valid."""
        if person != self.person:
            self.person = person
            self.on_change()


class Visitors:
    """The persons whose secrets were found valid by this process."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def person(self, sha256: str | None, address: str) -> str:
        """The user whose secret has this hash if it was valid before, else the address."""
        with self._lock:
            known = None if sha256 is None else self._known.get(sha256)
        return known or f"{UNKNOWN}{address}"

    def learn(self, sha256: str, user_id: str | None) -> None:
        """Remember whose a secret is, by its hash; None: nobody's, since it is not valid."""
        with self._lock:
            if user_id is None:
                self._known.pop(sha256, None)
                return
            self._known[sha256] = user_id
            self._known.move_to_end(sha256)
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)


def address_of(peer: str | None, forwarded_for: str, trusted: Sequence[Network]) -> str:
    """The address that a request comes from, as limits count addresses.

    `peer` is the other end of the connection. If it is a trusted proxy, its `X-Forwarded-For` is
    read from the right up to the first address that is none: what stands left of it, its sender may
    have made up. An IPv6 address stands for its network of 64 bits.
    """
    address = peer or "local"
    for hop in reversed(forwarded_for.split(",")):
        if not is_trusted(address, trusted):
            break
        named = _without_port(hop.strip())
        if not is_address(named):
            break
        address = named
    return _counted_as(address)


def is_trusted(address: str, trusted: Sequence[Network]) -> bool:
    """Whether this is the address of a proxy that the operator trusts."""
    if not trusted or not is_address(address):
        return False
    plain = _plain(address)
    return any(plain in network for network in trusted)


@lru_cache(1000)
def _counted_as(address: str) -> str:
    if not is_address(address):
        return address
    plain = _plain(address)
    if isinstance(plain, IPv6Address):
        return str(IPv6Address(int(plain) >> _HOST_BITS << _HOST_BITS))
    return str(plain)


def _plain(address: str) -> IPv4Address | IPv6Address:
    found = ip_address(address)
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return mapped or found


def _without_port(hop: str) -> str:
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop
