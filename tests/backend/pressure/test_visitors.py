"""Addresses behind proxies, and whose secret was valid before."""

import hashlib
from ipaddress import ip_network

import pytest
from pydantic import ValidationError

from backend.pressure.visitors import MOST_KNOWN, UNKNOWN, Visitors, address_of
from backend.settings import Settings
from tests.backend.conftest import Service

PROXIES = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


@pytest.mark.parametrize(
    ("peer", "forwarded_for", "address"),
    [
        ("203.0.113.7", "", "203.0.113.7"),
        # What somebody who is no proxy writes there means nothing.
        ("203.0.113.7", "198.51.100.1", "203.0.113.7"),
        ("10.1.2.3", "198.51.100.1", "198.51.100.1"),
        ("10.1.2.3", "1.1.1.1, 198.51.100.1", "198.51.100.1"),
        ("10.1.2.3", "1.1.1.1, 198.51.100.1, 10.9.9.9", "198.51.100.1"),
        ("10.1.2.3", "10.4.4.4, 10.9.9.9", "10.4.4.4"),
        ("10.1.2.3", "", "10.1.2.3"),
        ("10.1.2.3", "nonsense", "10.1.2.3"),
        ("10.1.2.3", "198.51.100.1, <script>, 10.9.9.9", "10.9.9.9"),
        ("10.1.2.3", "198.51.100.1:4711", "198.51.100.1"),
        ("10.1.2.3", "[2001:db8:1:2:3:4:5:6]:4711", "2001:db8:1:2::"),
        ("fd00::1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::77", "", "2001:db8:1:2::"),
        ("::ffff:203.0.113.7", "", "203.0.113.7"),
        ("::ffff:10.1.2.3", "198.51.100.1", "198.51.100.1"),
        (None, "198.51.100.1", "local"),
        ("testclient", "198.51.100.1", "testclient"),
    ],
)
def test_an_address_is_the_nearest_one_that_nobody_could_make_up(
    peer: str | None, forwarded_for: str, address: str
) -> None:
    assert address_of(peer, forwarded_for, PROXIES) == address


def test_without_trusted_proxies_the_header_means_nothing() -> None:
    assert address_of("127.0.0.1", "198.51.100.1", ()) == "127.0.0.1"


def test_a_secret_counts_for_its_person_once_it_was_valid() -> None:
    visitors = Visitors()
    assert visitors.person("aa", "10.0.0.1") == f"{UNKNOWN}10.0.0.1"
    visitors.learn("aa", "user_1")
    visitors.learn("bb", "user_1")
    assert visitors.person("aa", "10.0.0.1") == visitors.person("bb", "10.0.0.2") == "user_1"
    assert visitors.person(None, "10.0.0.1") == f"{UNKNOWN}10.0.0.1"
    visitors.learn("aa", None)
    assert visitors.person("aa", "10.0.0.1") == f"{UNKNOWN}10.0.0.1"
    assert visitors.person("bb", "10.0.0.2") == "user_1"


def test_whoever_has_a_revoked_key_takes_no_turn_of_its_owner(light_service: Service) -> None:
    admin = light_service.client()
    user = admin.post("/users", json={"name": "V", "role": "viewer"}).json()["id"]
    key = admin.post(f"/users/{user}/keys", json={"name": "k"}).json()
    thief = light_service.client(key["key"])
    sha256 = hashlib.sha256(key["key"].encode()).hexdigest()
    visitors: Visitors = light_service.app.state.visitors

    assert thief.get("/me").status_code == 200
    assert visitors.person(sha256, "x") == user
    admin.delete(f"/users/{user}/keys/{key['id']}")
    assert thief.get("/me").status_code == 401
    assert visitors.person(sha256, "x") == f"{UNKNOWN}x"


def test_memory_is_bounded() -> None:
    visitors = Visitors()
    for n in range(MOST_KNOWN + 10):
        visitors.learn(f"{n}", "user_1")
    assert visitors.person("0", "x") == f"{UNKNOWN}x"
    assert visitors.person("10", "x") == "user_1"


def test_the_setting_names_addresses_and_networks() -> None:
    settings = Settings(trusted_proxies="10.0.0.0/8, 192.0.2.1")
    assert settings.trusted_networks == (ip_network("10.0.0.0/8"), ip_network("192.0.2.1/32"))
    assert Settings().trusted_networks == ()
    with pytest.raises(ValidationError, match=r"proxy\.example"):
        Settings(trusted_proxies="proxy.example")
