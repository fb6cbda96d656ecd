"""Who may have how many connections, and whose connection ends when there are too many.

One rule for all connections of a server: those that wait in the kernel (`backend.ops.arrivals`) and
those that are served (`backend.ops.connections`).
"""

from collections.abc import Collection, Iterator, Sequence
from enum import IntEnum
from itertools import islice
from typing import NamedTuple, Protocol

from backend.pressure.visitors import Network, is_trusted

MOST_CONNECTIONS = 8192
# Of one address, before anybody has shown valid credentials on them; of each kind.
MOST_OF_A_STRANGER = 4096
# On which one person has shown valid credentials last. A browser has six, and 20 streams are
# allowed; the rest is for programs.
MOST_OF_A_PERSON = 512
# Among so many of the oldest of a kind, or of one person, one that idles is looked for: 0.1 ms.
LOOKED_AT = 64


class Kind(IntEnum):
    """What is known of the client of a connection."""

    ARRIVING = 0  # no request has come yet
    STRANGER = 1
    KNOWN = 2


class Held(Protocol):
    """A connection, as it is counted here."""

    address: str

    @property
    def person(self) -> str | None:
        """The user who has shown valid credentials on it last."""

    @property
    def kind(self) -> Kind:
        """The kind of its client."""

    @property
    def is_waiting(self) -> bool:
        """Whether nothing is lost if it ends: no request is here whole."""

    @property
    def is_idle(self) -> bool:
        """Whether it waits for a next request, of which nothing has come."""

    def end(self) -> None:
        """Close it without an answer."""


class _Holder(NamedTuple):
    """Whose a connection is: a person's, an address's, or those of all behind a proxy."""

    kind: Kind
    name: str
    most: int | None


class Admission:
    """All connections of one server, oldest first, by their holders; used in one event loop.

    A holder with more than its share loses its oldest connection that waits. If there are too many
    in all, the oldest that waits is ended: a stranger's that idles, else one without a request,
    else a stranger's, else one of the person who has the most. Of a holder and of a person one that
    idles ends before one with a part of a request.
    """

    def __init__(self, most: int, trusted: Sequence[Network] = ()) -> None:
        """`most` connections in all; those from `trusted` proxies are many people's."""
        self._most = most
        self._trusted = trusted
        self._holders: dict[Held, _Holder] = {}
        # The values have no meaning: a set would lose the order.
        self._of: dict[_Holder, dict[Held, None]] = {}
        self._of_kind: dict[Kind, dict[Held, None]] = {kind: {} for kind in Kind}

    @property
    def n(self) -> int:
        """How many connections there are."""
        return len(self._holders)

    def n_of(self, kind: Kind, name: str) -> int:
        """How many connections of one kind a person or an address has."""
        return sum(len(of) for holder, of in self._of.items() if holder[:2] == (kind, name))

    def admit(self, one: Held) -> bool:
        """Count a new connection; whether it may stay, at the cost of another where needed."""
        self._count(one)
        is_admitted = self._keep_share(one) and self._keep_all(one)
        if not is_admitted:
            self.forget(one)
        return is_admitted

    def recount(self, one: Held) -> None:
        """Count a connection anew: somebody else has shown credentials on it, or nobody any more.

        It is being answered, so it stays.
        """
        if one in self._holders:
            self.forget(one)
            self._count(one)
            self._keep_share(one)

    def forget(self, one: Held) -> None:
        """A connection has ended."""
        holder = self._holders.pop(one, None)
        if holder is None:
            return
        del self._of_kind[holder.kind][one]
        del self._of[holder][one]
        if not self._of[holder]:
            del self._of[holder]

    def _count(self, one: Held) -> None:
        holder = self._holders[one] = self._holder_of(one)
        self._of.setdefault(holder, {})[one] = None
        self._of_kind[holder.kind][one] = None

    def _holder_of(self, one: Held) -> _Holder:
        if is_trusted(one.address, self._trusted):
            return _Holder(one.kind, one.address, None)
        if one.person is not None:
            return _Holder(one.kind, one.person, MOST_OF_A_PERSON)
        return _Holder(one.kind, one.address, MOST_OF_A_STRANGER)

    def _keep_share(self, one: Held) -> bool:
        holder = self._holders[one]
        of = self._of[holder]
        return holder.most is None or len(of) <= holder.most or self._end(_oldest(of, one))

    def _keep_all(self, one: Held) -> bool:
        return self.n <= self._most or self._end(next(filter(None, self._in_order(one)), None))

    def _in_order(self, but: Held) -> Iterator[Held | None]:
        """Those of whom the first one ends when there are too many."""
        arriving, strangers = self._of_kind[Kind.ARRIVING], self._of_kind[Kind.STRANGER]
        # Whoever had an answer can connect again; who has just connected would get none at all.
        yield _idle(strangers, but)
        yield _waiting(arriving, but)
        yield _waiting(strangers, but)
        known = [of for holder, of in self._of.items() if holder.kind is Kind.KNOWN]
        for of in sorted(known, key=len, reverse=True):
            yield _oldest(of, but)

    def _end(self, one: Held | None) -> bool:
        """End a connection; whether there was one."""
        if one is None:
            return False
        self.forget(one)
        one.end()
        return True


def _oldest(group: Collection[Held], but: Held) -> Held | None:
    """The oldest that idles, else the oldest that waits."""
    return _idle(group, but) or _waiting(group, but)


def _idle(group: Collection[Held], but: Held) -> Held | None:
    looked_at = islice(group, LOOKED_AT)
    return next((one for one in looked_at if one is not but and one.is_idle), None)


def _waiting(group: Collection[Held], but: Held) -> Held | None:
    return next((one for one in group if one is not but and one.is_waiting), None)
