"""Tricks that are older than the service: each is refused, and nothing of it is left behind."""

import gzip
import io
import os
import pickle
import re
import tarfile
import zipfile
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

from backend.uploads.spool import folder_of
from tests.backend.conftest import Service
from tests.backend.pressure.test_limits import document, resolved
from tests.backend.test_access import OPERATIONS, every_route, plant
from tests.backend.test_access import Site as Planted
from tests.backend.test_session import ORIGIN

MIB = 1 << 20
# What the service alone decides; no request may say it.
OWN = {
    "id": "run_x",
    "number": 1,
    "user_id": "user_x",
    "is_admin": True,
    "created_at": "2020-01-01",
    "state": "succeeded",
    "password_hash": "x",
    "archived_at": None,
    "__proto__": {"role": "admin"},
}


class Opened:
    """What runs when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self._mark),)


def packed(mark: Path) -> dict[str, bytes]:
    """Files that unpack to far more, or to something that acts."""
    zipped, tarred = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("../../prompts.jsonl", b"0" * 32 * MIB)
    with tarfile.open(fileobj=tarred, mode="w:gz") as tar:
        link = tarfile.TarInfo("prompts.jsonl")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    return {
        "zip": zipped.getvalue(),
        "tar": tarred.getvalue(),
        "gzip": gzip.compress(b'{"prompt": "x"}\n' * MIB),
        "pickle": pickle.dumps(Opened(mark)),
        "pickle in a line": b'{"prompt": "' + pickle.dumps(Opened(mark)).hex().encode() + b'"',
    }


def test_no_archive_is_opened(light_service: Service, tmp_path: Path) -> None:
    admin, mark = light_service.client(), tmp_path / "opened"
    project = admin.post("/projects", json={"name": "P"}).json()["id"]
    types = ("application/zip", "application/x-ndjson", "application/json", "text/csv",
             "application/vnd.apache.parquet")  # fmt: skip
    for content, content_type in product(packed(mark).values(), types):
        answer = admin.post(
            f"/projects/{project}/imports",
            params={"kind": "prompts"},
            content=content,
            headers={"Content-Type": content_type, "Content-Encoding": "gzip"},
        )
        is_refused = answer.status_code in (413, 415, 422)
        assert is_refused or answer.json()["accepted"] == 0, answer.text
    assert not mark.exists()
    assert admin.get(f"/projects/{project}/prompts").json()["items"] == []
    assert list(folder_of(light_service.data_dir).iterdir()) == []


def test_a_body_is_never_unpacked(light_service: Service) -> None:
    admin = light_service.client()
    body = gzip.compress(b'{"name": "' + b"x" * 100 + b'"}')
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    assert admin.post("/projects", content=body, headers=headers).status_code in (400, 422)
    assert admin.get("/projects").json()["items"] == []


def bodies() -> dict[str, dict[str, Any]]:
    """The schema of every JSON body, by operation."""
    found = document()
    components = found["components"]["schemas"]
    made = {}
    for name, route in every_route().items():
        path = route.path if name == "scrape" else f"/api/v1{route.path}"
        described = found["paths"][path][min(route.methods).lower()]
        content = described.get("requestBody", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema")
        if schema is not None and name != "import_file":
            some = schema.get("anyOf", [schema])
            made[name] = resolved(some[0], components)
    return made


def test_no_body_has_room_for_more_than_its_fields() -> None:
    assert len(bodies()) > 30
    assert {
        name for name, one in bodies().items() if one.get("additionalProperties", True)
    } == set()


def test_what_the_service_decides_is_said_by_no_request(light_service: Service) -> None:
    """Mass assignment: each field alone and by the last value of a doubled name."""
    admin = light_service.client()
    site = Planted(admin, light_service.app.state.database, light_service.app.state.settings, "")
    plant(site, "P")
    before = admin.get(f"/projects/{site.project}").json()
    for name, value in OWN.items():
        for method, path, body in (
            ("POST", "/projects", {"name": "n"}),
            ("PATCH", f"/projects/{site.project}", {"name": "n"}),
            ("POST", "/users", {"name": "n", "role": "viewer"}),
            ("POST", "/runs", site.run_body()),
        ):
            assert admin.request(method, path, json={**body, name: value}).status_code == 422
    assert admin.get(f"/projects/{site.project}").json() == before
    assert len(admin.get("/users").json()["items"]) == 1
    assert admin.get("/runs").json()["items"] == []


def test_a_key_is_right_or_worth_nothing(light_service: Service) -> None:
    """Guesses beside a right key, and other ways to send one."""
    key, nobody = light_service.admin_key, light_service.anonymous()
    guesses = [
        key[:-1], key + "a", key.upper(), key[:12], key[:-1] + chr(ord(key[-1]) ^ 1), "%", "_" * 40,
        "' OR '1'='1", "null", "undefined", "*", "[object Object]", "a" * 5000,
    ]  # fmt: skip
    for guess in guesses:
        for scheme in ("Bearer", "bearer", "Basic", "Token"):
            sent = {"Authorization": f"{scheme} {guess}"}
            assert nobody.get("/api/v1/me", headers=sent).status_code == 401, sent
    for sent in ({"X-Api-Key": key}, {"Cookie": f"podium_session={key}"}, {"X-Podium-User": "x"}):
        assert nobody.get("/api/v1/me", headers=sent).status_code == 401
    assert nobody.get(f"/api/v1/me?key={key}&access_token={key}").status_code == 401
    assert light_service.client().get("/me").status_code == 200


def test_no_answer_takes_a_header_from_a_request(light_service: Service) -> None:
    admin = light_service.client()
    asked = [route.path for name, route in every_route().items() if OPERATIONS[name].is_traced]
    asked += ["/runs/{run_id}", "/seed-groups/results"]
    for end in ("\r\n", "\n", "%0d%0a", "\u560d\u560a"):
        planted = f"x{end}Set-Cookie: planted=1{end}X-Planted: 1"
        asking = {"format": planted, "split": planted, "runs": planted}
        answers = [admin.get(re.sub(r"{\w+}", quote(planted), one), params=asking) for one in asked]
        answers.append(admin.post("/projects", json={"name": planted}))
        answers.append(admin.post("/projects", json={"name": "n", "guidelines": planted}))
        for answer in answers:
            assert answer.status_code in (201, 400, 404, 422), answer.url
            assert "planted" not in str(answer.headers).lower()


def test_an_address_has_nothing_unseen(light_service: Service) -> None:
    """Two people would have addresses that look alike."""
    admin = light_service.client()
    made = {"name": "a", "role": "viewer", "password": "correct horse battery"}
    assert admin.post("/users", json={**made, "email": "a@x.test"}).status_code == 201
    for email in ("a\u200b@x.test", "\u202ea@x.test", "a@x\u00ad.test", "a@x.test\u2060",
                  "a\x00@x.test"):  # fmt: skip
        assert admin.post("/users", json={**made, "email": email}).status_code == 422
    assert admin.post("/users", json={**made, "email": "A@X.Test"}).status_code in (409, 422)
    assert len(admin.get("/users").json()["items"]) == 2


def test_a_form_of_another_site_does_nothing(light_service: Service) -> None:
    """What a browser sends without asking first: with the cookie, and a body that is JSON."""
    admin = light_service.client()
    secret = {"email": "a@x.test", "password": "correct horse battery"}
    admin.post("/users", json={"name": "a", "role": "admin", **secret}).raise_for_status()
    browser = light_service.anonymous()
    browser.post("/api/v1/session", json=secret, headers=ORIGIN).raise_for_status()
    types = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")
    for origin, content_type in product(("http://evil.test", "null"), types):
        headers = {"Content-Type": content_type, "Origin": origin}
        sent = browser.post("/api/v1/projects", content=b'{"name": "theirs"}', headers=headers)
        assert sent.status_code in (403, 415, 422)
        assert "access-control-allow-origin" not in sent.headers
        asked = browser.options("/api/v1/projects", headers={"Origin": origin})
        assert "access-control-allow-origin" not in asked.headers
    assert admin.get("/projects").json()["items"] == []
