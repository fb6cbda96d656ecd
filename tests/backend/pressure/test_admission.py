"""Whose connection ends when there are too many."""

from dataclasses import dataclass
from ipaddress import ip_network

import pytest

from backend.ops import admission
from backend.ops.admission import Admission, Kind


@dataclass(eq=False)
class Fake:
    """A connection that only counts."""

    address: str = "a"
    person: str | None = None
    is_arriving: bool = False
    is_waiting: bool = True
    is_sending: bool = False
    is_ended: bool = False

    @property
    def is_idle(self) -> bool:
        return self.is_waiting and not self.is_sending and not self.is_arriving

    @property
    def kind(self) -> Kind:
        if self.is_arriving:
            return Kind.ARRIVING
        return Kind.STRANGER if self.person is None else Kind.KNOWN

    def end(self) -> None:
        self.is_ended = True


def test_without_a_place_the_one_ends_of_whom_least_is_known() -> None:
    held = [
        Fake("a", "anna"),
        Fake("b", "bert"),
        Fake("b", "bert", is_waiting=False),
        Fake("b", "bert"),
        Fake("c"),
        Fake("d", is_waiting=False),
        Fake("e"),
        Fake("f", is_arriving=True),
    ]
    admitted = Admission(len(held))
    assert all(admitted.admit(one) for one in held)
    newcomers = [Fake(f"n{n}", is_waiting=False) for n in range(7)]
    found = []
    for newcomer in newcomers:
        before = [one.is_ended for one in held]
        is_in = admitted.admit(newcomer)
        ended = [n for n, one in enumerate(held) if one.is_ended and not before[n]]
        found.append(ended[0] if is_in else None)
        assert len(ended) == is_in
        assert admitted.n == len(held)
    # Two strangers, one that arrives, two of Bert, who has three, Anna's one; the rest is busy.
    assert found == [4, 6, 7, 1, 3, 0, None]


def test_of_one_kind_those_that_idle_end_first() -> None:
    held = [
        Fake("a", "anna"),
        Fake("b", is_sending=True),
        Fake("c"),
        Fake("d", is_sending=True),
        Fake("e", is_arriving=True, is_sending=True),
    ]
    admitted = Admission(len(held))
    assert all(admitted.admit(one) for one in held)
    found = []
    for n in range(5):
        before = [one.is_ended for one in held]
        assert admitted.admit(Fake(f"n{n}", is_waiting=False))
        found += [n for n, one in enumerate(held) if one.is_ended and not before[n]]
    # Somebody who is known keeps what idles, whatever strangers send.
    assert found == [2, 4, 1, 3, 0]


def test_of_those_that_arrive_the_oldest_ends_whatever_it_has_sent() -> None:
    """A byte costs nothing; age tells those who only hold a place from those who have just come."""
    held = [Fake("a", is_arriving=True, is_sending=True), Fake("b", is_arriving=True)]
    admitted = Admission(len(held))
    assert all(admitted.admit(one) for one in held)

    assert admitted.admit(Fake("c", is_arriving=True))

    assert [one.is_ended for one in held] == [True, False]


def test_of_ones_own_those_that_idle_end_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "MOST_OF_A_PERSON", 2)
    admitted = Admission(10)
    sending, idle, newest = Fake("a", "anna", is_sending=True), Fake("a", "anna"), Fake("a", "anna")

    assert all(admitted.admit(one) for one in (sending, idle, newest))

    assert [one.is_ended for one in (sending, idle, newest)] == [False, True, False]


@pytest.mark.parametrize("kind", Kind)
def test_a_share_is_counted_by_kind_and_not_for_proxies(
    monkeypatch: pytest.MonkeyPatch, kind: Kind
) -> None:
    monkeypatch.setattr(admission, "MOST_OF_A_PERSON", 2)
    monkeypatch.setattr(admission, "MOST_OF_A_STRANGER", 2)
    person = "anna" if kind is Kind.KNOWN else None

    def admit_three(address: str) -> list[bool]:
        admitted = Admission(100, [ip_network("10.0.0.0/8")])
        three = [Fake(address, person, kind is Kind.ARRIVING) for _ in range(3)]
        assert all(admitted.admit(one) for one in [Fake("203.0.113.9"), *three])
        assert admitted.n_of(kind, person or address) in (2, 0 if person else 3)
        return [one.is_ended for one in three]

    assert admit_three("203.0.113.7") == [True, False, False]
    assert admit_three("10.1.2.3") == [False, False, False]


def test_who_becomes_known_is_never_the_one_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "MOST_OF_A_PERSON", 1)
    admitted = Admission(10)
    busy, late = Fake("a", "anna", is_waiting=False), Fake("b", is_waiting=False)
    assert admitted.admit(busy)
    assert admitted.admit(late)

    late.person = "anna"
    admitted.recount(late)
    assert admitted.n_of(Kind.KNOWN, "anna") == 2
    late.person = None
    admitted.recount(late)
    assert (admitted.n_of(Kind.KNOWN, "anna"), admitted.n_of(Kind.STRANGER, "b")) == (1, 1)
    admitted.forget(late)
    admitted.recount(late)
    assert admitted.n == 1
