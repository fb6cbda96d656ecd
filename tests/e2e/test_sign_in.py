"""Coming in: by the one-time link, and by e-mail and password."""

from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, Route, StorageState, expect

from tests.e2e.late_answers import TWO_FRAMES
from tests.e2e.windows import open_window
from tests.e2e.workshop import Workshop
from tests.processes import wait_until

PASSWORD = "correct horse battery"
pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_a_sign_in_link_works_once_and_then_says_what_to_do(
    browser: Browser, workshop: Workshop
) -> None:
    link = workshop.sign_in_link()
    first = open_window(browser)
    page = first.new_page()
    page.goto(link)
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    assert "token" not in page.url
    first.close()

    second = open_window(browser)
    page = second.new_page()
    page.goto(link)
    expect(page.get_by_text("This sign-in link is no longer valid")).to_be_visible()
    expect(page.get_by_text("podium sign-in", exact=True)).to_be_visible()
    second.close()


def test_a_page_asks_to_sign_in_and_comes_back_to_itself(
    browser: Browser, workshop: Workshop
) -> None:
    project = workshop.new_project("Come back")
    context = open_window(browser)
    page = context.new_page()
    page.goto(f"{workshop.url}/projects/{project}/data?x=1")
    expect(page.get_by_label("E-mail")).to_be_visible()
    assert "next=" in page.url

    token = workshop.sign_in_link().split("#")[1]
    page.goto(f"{page.url}#{token}")
    expect(page.get_by_role("heading", name="Data")).to_be_visible()
    assert page.url.endswith(f"/projects/{project}/data?x=1")
    context.close()


def test_next_leads_nowhere_else(browser: Browser, workshop: Workshop) -> None:
    workshop.new_project("Nowhere else")
    token = workshop.sign_in_link().split("#")[1]
    context = open_window(browser)
    page = context.new_page()
    page.goto(f"{workshop.url}/sign-in?next=//example.invalid/#{token}")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    assert page.url.startswith(workshop.url)
    context.close()


def test_who_cannot_be_signed_out_is_told_so(
    browser: Browser, workshop: Workshop, axe: str
) -> None:
    workshop.new_project("A shared computer")
    context = open_window(browser)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(workshop.sign_in_link())
    page.get_by_role("button", name="Sign out").wait_for()
    context.set_offline(True)
    page.get_by_role("button", name="Sign out").click()
    dialog = page.get_by_role("dialog", name="You are not signed out yet")
    expect(dialog).to_contain_text("whoever uses this browser next can work as Administrator")
    expect(dialog).to_contain_text("The service could not be reached.")
    again = dialog.get_by_role("button", name="Try again")
    expect(again).to_be_focused()
    again.press("Enter")
    expect(again).to_be_enabled()
    expect(dialog).to_be_visible()
    page.evaluate(axe)
    found = page.evaluate("async () => (await axe.run()).violations.map(({ id }) => id)")
    assert found == []

    context.set_offline(False)
    again.press("Enter")
    expect(page.get_by_label("E-mail")).to_be_visible()
    assert "/sign-in" in page.url
    assert errors == []
    context.close()


def test_an_administrator_changes_their_e_mail_with_the_current_password(
    browser: Browser, workshop: Workshop
) -> None:
    first, then = (f"{name}.{uuid4().hex}@example.org" for name in ("first", "then"))
    workshop.post("/users", {"name": "Root", "role": "admin", "email": first, "password": PASSWORD})
    context = open_window(browser)
    page = context.new_page()
    sign_in(page, workshop, first)
    page.goto(f"{workshop.url}/account")
    expect(page.get_by_text(f"You sign in as {first}.")).to_be_visible()
    form = page.get_by_role("form", name="Change e-mail")
    form.get_by_label("E-mail").fill(then)
    form.get_by_role("button", name="Change e-mail").click()
    expect(form.get_by_role("alert")).to_contain_text("is not your password")
    form.get_by_label("Current password").fill(PASSWORD)
    form.get_by_role("button", name="Change e-mail").click()
    expect(page.get_by_text(f"You sign in as {then}.")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    sign_in(page, workshop, then)
    context.close()


def test_a_click_before_the_first_page_is_there_is_followed(
    browser: Browser, workshop: Workshop, signed_in: StorageState
) -> None:
    workshop.new_project("Clicked early")
    context = open_window(browser, storage_state=signed_in)
    page = context.new_page()
    held: list[Route] = []
    for late in ("**/api/v1/projects?*", "**/assets/account-page*.js"):
        page.route(late, lambda route: held.append(route))
    with page.expect_request("**/api/v1/projects?*") as projects:
        page.goto(workshop.url)
    with page.expect_request("**/assets/account-page*.js"):
        page.get_by_title("your account").click()
    wait_until(lambda: page.evaluate("true") and len(held) == 2, "both are held")
    first, second = held

    with page.expect_response(projects.value.url):
        first.continue_()
    page.evaluate(TWO_FRAMES)  # The projects lead to the page of one, unless a click came before.
    second.continue_()

    expect(page.get_by_role("heading", name="Your account")).to_be_visible()
    context.close()


def test_who_has_no_e_mail_is_told_how_to_sign_in(browser: Browser, workshop: Workshop) -> None:
    me = {**workshop.client.get("/me").json(), "email": None}
    context = open_window(browser)
    page = context.new_page()
    page.route("**/api/v1/me", lambda route: route.fulfill(json=me))
    page.goto(workshop.sign_in_link())
    page.get_by_title("your account").click()
    expect(page.get_by_text("Your account has no e-mail address")).to_contain_text(
        "run podium sign-in on the machine that runs Podium"
    )
    context.close()


def sign_in(page: Page, workshop: Workshop, email: str) -> None:
    page.goto(f"{workshop.url}/sign-in")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
