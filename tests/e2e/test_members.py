"""The Members page: every verb is pressed, and the service says what each of them has changed."""

import re

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import OpenPage
from tests.e2e.journey import new_person
from tests.e2e.test_pages import barriers
from tests.e2e.windows import open_window
from tests.e2e.workshop import Workshop
from tests.processes import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

# The word is there for two seconds: whoever looks for it later has missed it.
_HEAR_OF_A_COPY = """() => {
  window.hasSaidCopied = false;
  const said = () => [...document.querySelectorAll("[aria-live]")].map((one) => one.textContent);
  const hear = () => { window.hasSaidCopied ||= said().includes("Copied"); };
  new MutationObserver(hear).observe(document, {
    childList: true, characterData: true, subtree: true,
  });
}"""


def annotator_who_judged_one(workshop: Workshop, project: str, name: str) -> None:
    """A new annotator of this project, with one judgment."""
    body = {"name": name, "role": "annotator", "project_ids": [project]}
    user = workshop.post("/users", body)["id"]
    theirs = as_owner_of(workshop.post(f"/users/{user}/keys", {"name": "script"})["key"])
    client = workshop.client
    lease = client.post(f"/projects/{project}/assignments", headers=theirs).json()
    said = {"tiers": [[one] for one in lease["presented_order"]], "verdict": "ranked"}
    path = f"/assignments/{lease['id']}/judgment"
    client.post(path, json=said, headers=theirs).raise_for_status()


def as_owner_of(key: str) -> dict[str, str]:
    """The headers of a request with this key."""
    return {"Authorization": f"Bearer {key}"}


def test_roles_keys_links_and_who_is_deactivated(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    project = workshop.new_project("All verbs", guidelines="")
    workshop.comparisons(project, 1)
    annotator_who_judged_one(workshop, project, "Hana")

    def asked_with(key: str) -> httpx.Response:
        return workshop.client.get("/me", headers=as_owner_of(key))

    page = open_page(f"/projects/{project}/settings/members")
    page.on("dialog", lambda dialog: dialog.accept())
    members = page.get_by_role("region", name="Members")

    # The list shows what the service has stored: it is asked for again after each change.
    role = members.get_by_label("Role of Hana")
    expect(role).to_have_value("annotator")
    with page.expect_response(re.compile(rf"/projects/{project}/members\?")):
        role.select_option("viewer")
    expect(role).to_have_value("viewer")
    expect(role).to_have_attribute("aria-busy", "false")
    listed = workshop.get(f"/projects/{project}/members")["items"]
    assert [one["role"] for one in listed if one["name"] == "Hana"] == ["viewer"]

    members.get_by_role("button", name="Keys of Hana").click()
    keys = page.get_by_role("dialog", name="Keys of Hana")
    expect(keys.get_by_role("row", name="script")).to_be_visible()
    keys.get_by_role("button", name="New key").click()
    form = page.get_by_role("dialog", name="New key")
    form.get_by_label("Name").fill("nightly")
    form.get_by_role("button", name="Create key").click()
    expect(keys.get_by_role("row", name="nightly")).to_be_visible()
    key = keys.locator(".secret-value").inner_text()
    assert asked_with(key).json()["name"] == "Hana"
    assert barriers(page, axe) == []
    # Nobody can see it again.
    keys.get_by_role("button", name="Close").click()
    expect(keys.get_by_text("Copy the key and choose Done first")).to_be_visible()
    keys.get_by_role("button", name="Done").click()
    keys.get_by_role("button", name="Close").click()

    members.get_by_role("button", name="Deactivate Hana").click()
    expect(members.get_by_role("row", name="Hana")).to_have_count(0)
    assert asked_with(key).status_code == 401
    page.get_by_text("Deactivated", exact=True).click()
    gone = page.get_by_role("group").filter(has_text="They cannot sign in")
    cells = gone.get_by_role("row", name="Hana").get_by_role("cell")
    expect(cells.nth(1)).to_have_text("viewer")
    expect(cells.nth(2)).to_have_text("1")
    gone.get_by_role("button", name="Reactivate Hana").click()
    expect(gone.get_by_text("Nobody is deactivated")).to_be_visible()
    expect(members.get_by_role("row", name="Hana")).to_be_visible()

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    members.get_by_role("button", name="Invite people").click()
    names = page.get_by_label("Names, one per line")
    names.fill("Ilse\nJan\nIlse")
    expect(page.get_by_text("More than once: Ilse. Each line is a person")).to_be_visible()
    expect(page.get_by_role("button", name="Make 3 links")).to_be_enabled()
    names.fill("Ilse")
    page.get_by_role("button", name="Make 1 link").click()
    page.evaluate(_HEAR_OF_A_COPY)
    page.get_by_role("button", name="Copy the link for Ilse").click()
    wait_until(lambda: bool(page.evaluate("window.hasSaidCopied")), "the button has said so")
    link = page.get_by_label("Link for Ilse", exact=True).input_value()
    assert page.evaluate("navigator.clipboard.readText()") == link


def press_escape_twice(page: Page) -> None:
    """At the second Escape in a row the browser asks no page whether its dialog may close."""
    for _ in range(2):
        page.keyboard.press("Escape")


def test_who_has_forgotten_a_password_gets_a_new_one(
    workshop: Workshop, open_page: OpenPage, browser: Browser, axe: str
) -> None:
    project = workshop.new_project("Forgotten", guidelines="")
    kai = new_person(workshop, "Kai")
    kai.join(workshop, project)
    window = open_window(browser)
    window.add_cookies([kai.cookie])
    theirs = window.new_page()
    theirs.goto(f"{workshop.url}/projects/{project}/mine")
    expect(theirs.get_by_role("button", name="Sign out")).to_be_visible()

    page = open_page(f"/projects/{project}/settings/members")
    page.get_by_role("button", name="New password for Kai").click()
    form = page.get_by_role("dialog", name="A new password for Kai")
    password = form.get_by_label("New password").input_value()
    assert barriers(page, axe) == []
    form.get_by_role("button", name="Set password").click()
    once = page.get_by_role("dialog", name="The new password of Kai")
    expect(once.get_by_label("New password of Kai", exact=True)).to_have_value(password)
    press_escape_twice(page)
    expect(once.get_by_text("Copy the password first, or choose Done")).to_be_visible()
    expect(once).to_be_visible()
    assert barriers(page, axe) == []
    once.get_by_role("button", name="Done").click()
    expect(once).to_have_count(0)
    expect(page.get_by_role("button", name="New password for Kai")).to_be_focused()

    theirs.reload()
    theirs.get_by_label("E-mail").fill(kai.email)
    theirs.get_by_label("Password").fill(password)
    theirs.get_by_role("button", name="Sign in").click()
    expect(theirs.get_by_role("button", name="Sign out")).to_be_visible()
    window.close()


def test_links_that_were_lost_are_renewed_together(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    project = workshop.new_project("Lost links")
    page = open_page(f"/projects/{project}/settings/members")
    page.get_by_role("button", name="Invite people").first.click()
    page.get_by_label("Names, one per line").fill("Lea\nMax")
    page.get_by_label("A link works once, within").select_option("30 days")
    page.get_by_role("button", name="Make 2 links").click()
    made = page.get_by_role("dialog", name="2 links to pass on")
    first = made.get_by_label("Link for Lea", exact=True).input_value()
    press_escape_twice(page)
    page.mouse.click(5, 5)
    expect(made.get_by_text("Copy the 2 links first, or choose Done")).to_be_visible()
    expect(made).to_be_visible()
    made.get_by_role("button", name="Done").click()

    page.get_by_role("button", name="Renew all 2").click()
    form = page.get_by_role("dialog", name="Renew the links of 2 people")
    expect(form.get_by_label("Each new link works once, within")).to_have_value(str(30 * 86_400))
    assert barriers(page, axe) == []
    form.get_by_role("button", name="Make 2 new links").click()
    renewed = page.get_by_role("dialog", name="2 new links to pass on")
    again = renewed.get_by_label("Link for Lea", exact=True).input_value()

    def opened(link: str) -> int:
        body = {"token": link.partition("#token=")[2]}
        return workshop.client.post("/invitation", json=body).status_code

    assert [opened(first), opened(again)] == [404, 200]
    renewed.get_by_role("button", name="Done").click()
    expect(page.get_by_role("button", name="Renew all 2")).to_be_focused()
