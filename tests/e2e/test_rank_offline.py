"""Ranking without a network: nothing looks otherwise than with one, and nothing is lost."""

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import OpenPage, forget
from tests.e2e.test_own_ways import press
from tests.e2e.test_rank import judgments, shown, wait_for_held, wait_for_judgments
from tests.e2e.workshop import Workshop
from tests.processes import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

OFFLINE = "ERR_INTERNET_DISCONNECTED"
FORMULA = "By cases:\n\n$$\n\\frac{a}{b} \\in \\mathbb{R}\n$$\n\nso **done**."
CODE = "Run this:\n\n```python\nreturn 1\n```"


def test_formulas_and_code_that_were_taken_offline_look_as_they_do_online(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Offline texts")
    records = [{"prompt": "First?", "responses": ["one", "two", "three"]}]
    records += [{"prompt": f"{n}?", "responses": [FORMULA, CODE, "*plain*"]} for n in range(12)]
    workshop.take_in(project, "comparisons", records)
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    page.get_by_role("button", name="Take up to ten offline").click()
    expect(page.get_by_text("10 comparisons offline until")).to_be_visible()
    page.context.set_offline(True)
    # Whichever came first, there is one with a formula by now.
    page.keyboard.press("x")
    page.keyboard.press("Enter")
    expect(page.get_by_text("9 comparisons offline until")).to_be_visible()

    expect(page.locator("article .katex")).to_be_visible()
    expect(page.locator("article .hljs-keyword")).to_have_text("return")
    expect(page.locator("article .not-loaded")).to_have_count(0)
    loaded = page.evaluate(
        """() => document.fonts.ready.then(() => [...document.fonts]
          .filter(({ family }) => family.includes("KaTeX"))
          .map(({ status }) => status))"""
    )
    assert set(loaded) == {"loaded"}
    forget(open_page, OFFLINE)


def test_a_formula_that_cannot_be_loaded_is_shown_as_written_until_it_can(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Formula away")
    records = [{"prompt": "Why?", "responses": [FORMULA, CODE, "*plain*"]}]
    workshop.take_in(project, "comparisons", records)
    page = open_page("/projects")
    page.route("**/assets/formula-*.js", lambda route: route.abort("internetdisconnected"))
    page.goto(f"/projects/{project}/rank")
    shown(page)
    written = page.locator("article code.not-loaded")
    expect(written).to_have_text("\\frac{a}{b} \\in \\mathbb{R}")
    # What stands around it is formatted as ever.
    expect(page.locator("article strong")).to_have_text("done")
    expect(page.locator("article .hljs-keyword")).to_have_text("return")

    page.get_by_role("button", name="Take up to ten offline").click()
    expect(page.get_by_text("Podium could not load what shows formulas and code")).to_be_visible()
    expect(page.get_by_text("offline until")).to_have_count(0)

    page.unroute("**/assets/formula-*.js")
    page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(page.locator("article .katex")).to_be_visible()
    expect(written).to_have_count(0)
    forget(open_page, OFFLINE)


def test_a_skip_given_offline_is_kept_and_sent_later(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Offline skip")
    workshop.comparisons(project, 12)
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    page.get_by_role("button", name="Take up to ten offline").click()
    expect(page.get_by_text("10 comparisons offline until")).to_be_visible()
    page.context.set_offline(True)
    first = page.get_by_label("Prompt").inner_text()
    page.keyboard.press("s")
    page.get_by_role("button", name="not my field").click()
    expect(page.get_by_text("1 skip not sent yet.")).to_be_visible()
    page.keyboard.type("abcd")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 judgment and 1 skip not sent yet.")).to_be_visible()
    assert judgments(workshop, project) == []
    context = page.context
    page.close()

    # Another tab finds both; what was skipped does not come back, and waits for somebody else.
    context.set_offline(False)
    page = context.new_page()
    page.goto(f"/projects/{project}/rank")
    shown(page)
    assert page.get_by_label("Prompt").inner_text() != first
    wait_for_judgments(workshop, project, 1)
    wait_until(
        lambda: workshop.get(f"/projects/{project}/annotation")["passed"] == 1, "it is passed on"
    )
    expect(page.get_by_text("not sent yet")).to_have_count(0)
    forget(open_page, OFFLINE)


# Sets the clock of leases that were taken offline back, in the browser's database.
_END_LEASES = """() => new Promise((resolve, reject) => {
  const opening = indexedDB.open("podium");
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const transaction = opening.result.transaction("leases", "readwrite");
    const leases = transaction.objectStore("leases");
    leases.getAll().onsuccess = ({ target }) => {
      for (const lease of target.result) {
        lease.assignment.expires_at = "2026-01-01T00:00:00Z";
        leases.put(lease);
      }
    };
    transaction.oncomplete = () => { opening.result.close(); resolve(); };
  };
})"""
_COUNT_LEASES = """() => new Promise((resolve) => {
  const opening = indexedDB.open("podium");
  opening.onsuccess = () => {
    const leases = opening.result.transaction("leases").objectStore("leases");
    leases.count().onsuccess = ({ target }) => { opening.result.close(); resolve(target.result); };
  };
})"""


def test_leases_of_yesterday_are_no_longer_offline(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Yesterday")
    workshop.comparisons(project, 12)
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    page.get_by_role("button", name="Take up to ten offline").click()
    expect(page.get_by_text("10 comparisons offline until")).to_be_visible()
    page.goto("/projects")
    page.evaluate(_END_LEASES)
    page.evaluate("() => sessionStorage.clear()")

    page.goto(f"/projects/{project}/rank")
    shown(page)
    expect(page.get_by_text("10 comparisons offline")).to_have_count(0)
    wait_until(lambda: page.evaluate(_COUNT_LEASES) == 0, "they are forgotten")


def test_what_another_device_took_offline_is_ranked_here_only_by_purpose(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Phone and laptop")
    workshop.comparisons(project, 11)
    phone = open_page(f"/projects/{project}/rank", width=390, height=844)
    shown(phone)
    phone.get_by_role("button", name="Take up to ten offline").click()
    expect(phone.get_by_text("10 comparisons offline until")).to_be_visible()
    laptop = open_page(f"/projects/{project}/rank")
    shown(laptop)
    laptop.keyboard.type("abcd")
    laptop.keyboard.press("Enter")
    expect(laptop.get_by_text("You hold 10 comparisons in another tab")).to_be_visible()

    laptop.get_by_role("button", name="Take them offline here").click()
    expect(laptop.get_by_text("10 comparisons offline until")).to_be_visible()
    shown(laptop)


def test_a_phone_tells_until_when_it_may_be_offline_and_that_the_tab_stays_open(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Phone offline")
    workshop.comparisons(project, 6)
    page = open_page(f"/projects/{project}/rank", width=390, height=844)
    shown(page)
    page.get_by_role("button", name="Take up to ten offline").click()
    expect(page.get_by_text("6 comparisons offline until")).to_be_visible()
    told = page.get_by_role("alert").filter(has_text="Keep this tab open")
    expect(told).to_be_visible()
    page.keyboard.type("abcd")
    page.keyboard.press("Enter")
    expect(page.locator(".sent-word")).to_contain_text("A > B > C > D")
    expect(page.get_by_text("5 comparisons offline until")).to_be_visible()
    expect(told).to_be_visible()
    told.get_by_role("button", name="Dismiss").click()
    expect(told).to_have_count(0)


def test_what_was_taken_back_can_be_skipped(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Taken back")
    workshop.comparisons(project, 2, ("yes", "no"))
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    wait_for_held(page, 2)
    press(page, ("a", "KeyA"), ("z", "KeyZ"))
    expect(page.get_by_title("Taken back: A > B.")).to_be_visible()
    page.keyboard.press("s")
    page.get_by_role("button", name="not my field").click()
    wait_until(
        lambda: workshop.get(f"/projects/{project}/annotation")["passed"] == 1, "it is passed on"
    )
    expect(page.get_by_text("rejected")).to_have_count(0)
    assert judgments(workshop, project) == []
