"""Which hosts and origins are the service's own, and what happens to requests for others."""

import pytest

from backend.domain.own_address import OwnAddress
from tests.backend.conftest import Service

OWN = OwnAddress("https://podium.example.org", ("gpubox", "*.lab.example.org"))


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8000", "127.0.0.1:8000", "[::1]:8000", "10.1.2.3", "LOCALHOST", "",
     "podium.example.org", "podium.example.org.:443", "gpubox:8000", "a.lab.example.org"],
)  # fmt: skip
def test_it_answers_to_its_own_names_and_to_addresses(host: str) -> None:
    assert OWN.answers_to(host)


@pytest.mark.parametrize(
    "host",
    ["evil.test", "localhost.evil.test", "podium.example.org.evil.test", "lab.example.org",
     "evillab.example.org", "user@localhost", "localhost/evil.test", "localhost:many", "1.2.3",
     "[::1", "evil.test#localhost", "evil.test?localhost"],
)  # fmt: skip
def test_it_answers_to_no_other_name(host: str) -> None:
    assert not OWN.answers_to(host)


@pytest.mark.parametrize(
    ("origin", "is_own"),
    [
        ("http://localhost:8000", True),
        ("https://podium.example.org", True),
        ("https://podium.example.org:443", True),
        ("http://podium.example.org", False),
        ("https://podium.example.org:8443", False),
        ("http://localhost", False),
        ("http://localhost:8001", False),
        ("https://localhost:8000", False),
        ("ftp://localhost:8000", False),
        ("http://localhost:8000@evil.test", False),
        ("http://localhost:many", False),
        ("null", False),
        ("", False),
    ],
)
def test_an_origin_is_its_own_by_scheme_host_and_port(origin: str, is_own: bool) -> None:
    assert OWN.is_own(origin, scheme="http", host="localhost:8000") is is_own


def test_a_page_whose_name_was_pointed_here_reads_nothing(light_service: Service) -> None:
    browser = light_service.anonymous()

    refused = browser.get("/healthz", headers={"Host": "evil.test"})

    assert refused.status_code == 400
    assert "does not answer to the host 'evil.test'" in refused.json()["detail"]
    assert browser.get("/healthz", headers={"Host": "127.0.0.1:8000"}).status_code == 200
