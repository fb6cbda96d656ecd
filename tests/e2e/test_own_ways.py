"""Keys of every keyboard, one key for two responses, one's own judgments, and a page that waits."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenPage
from tests.e2e.test_pages import barriers
from tests.e2e.test_rank import judgments, shown, wait_for_held, wait_for_judgments
from tests.e2e.workshop import RESPONSES, Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

# What a keyboard sends for B A = D C Enter: (key, code).
KEYBOARDS = {
    "QWERTY": (("b", "KeyB"), ("a", "KeyA"), ("=", "Equal"), ("d", "KeyD"), ("c", "KeyC")),
    "AZERTY": (("b", "KeyB"), ("a", "KeyQ"), ("=", "Equal"), ("d", "KeyD"), ("c", "KeyC")),
    "Cyrillic": (("и", "KeyB"), ("ф", "KeyA"), ("=", "Equal"), ("в", "KeyD"), ("с", "KeyC")),
    "Arabic": (("لا", "KeyB"), ("ش", "KeyA"), ("=", "Equal"), ("ي", "KeyD"), ("ؤ", "KeyC")),
}
# The clock stands still meanwhile: what can be undone for three seconds is not over between two
# strokes, however slow the machine is.
_PRESS = """async (strokes) => {
  const { now } = Date;
  const at = now();
  Date.now = () => at;
  for (const [key, code] of strokes) {
    const target = document.activeElement ?? document.body;
    target.dispatchEvent(
      new KeyboardEvent("keydown", { key, code, bubbles: true, cancelable: true })
    );
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  Date.now = now;
}"""


def press(page: Page, *strokes: tuple[str, str]) -> None:
    """What the browser sends when somebody presses these keys."""
    page.evaluate(_PRESS, [list(one) for one in strokes])


def test_four_keyboards_rank_the_same_and_a_word_says_so(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Keyboards")
    workshop.comparisons(project, len(KEYBOARDS) + 1)
    page = open_page(f"/projects/{project}/rank")
    wanted = []
    for strokes in KEYBOARDS.values():
        texts = shown(page)
        prompt = page.get_by_label("Prompt").inner_text()
        wanted.append([[texts[1]], [texts[0], texts[3]], [texts[2]]])
        press(page, *strokes, ("Enter", "Enter"))
        expect(page.get_by_label("Prompt")).not_to_have_text(prompt)
        expect(
            page.get_by_role("status").get_by_text("Sent: B > A = D > C. Undo (Z) reopens it.")
        ).to_have_count(1)
    # Clicks leave the focus on a button, and Enter submits all the same.
    texts = shown(page)
    for letter in "DACB":
        page.locator(f"#card-{letter}").get_by_role("button", name=f"Rank {letter} next").click()
    page.keyboard.press("Enter")
    wanted.append([[texts[place]] for place in (3, 0, 2, 1)])
    expect(page.get_by_text("All done")).to_be_visible()

    kept = wait_for_judgments(workshop, project, len(wanted))

    listed = workshop.get(f"/projects/{project}/responses", limit=200)["items"]
    content = {one["id"]: one["content"].replace("**", "") for one in listed}
    tiers = [[[content[one] for one in tier] for tier in judgment["tiers"]] for judgment in kept]
    assert [[sorted(tier) for tier in one] for one in reversed(tiers)] == [
        [sorted(tier) for tier in one] for one in wanted
    ]


def test_one_key_sends_of_two_and_can_be_taken_back_for_three_seconds(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("One key")
    workshop.comparisons(project, 3, ("yes", "no"))
    page = open_page(f"/projects/{project}/rank")
    texts = shown(page)
    asked = page.get_by_label("Prompt").get_by_role("paragraph")
    prompt = asked.inner_text()
    # At once: three seconds pass quickly on a busy machine.
    wait_for_held(page, 2)
    press(page, ("b", "KeyB"), ("z", "KeyZ"))
    expect(asked).to_have_text(prompt)
    expect(page.get_by_text("Taken back: B > A.").last).to_be_attached()
    assert judgments(workshop, project) == []
    page.keyboard.press("a")
    expect(asked).not_to_have_text(prompt)
    page.keyboard.press("=")
    # It is kept at once, so that closing the page loses nothing.
    page.goto("about:blank")

    kept = wait_for_judgments(workshop, project, 2)

    content = {
        one["id"]: one["content"] for one in workshop.get(f"/projects/{project}/responses")["items"]
    }
    # Both are on their way at once, and either may be the first to arrive.
    said = [[[content[one] for one in tier] for tier in one["tiers"]] for one in kept]
    tie, choice = sorted(said, key=len)
    assert choice == [[texts[0]], [texts[1]]]
    assert [len(tier) for tier in tie] == [2]
    assert [one["revision"] for one in kept] == [1, 1]


def test_ones_own_judgments_are_found_and_revised(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    project = workshop.new_project("Mine")
    workshop.comparisons(project, 2)
    page = open_page(f"/projects/{project}/mine")
    expect(page.get_by_text("You have not judged anything yet")).to_be_visible()
    page.get_by_role("link", name="Start ranking").click()
    for keys in ("abcd", "dc"):
        shown(page)
        page.keyboard.type(keys)
        page.keyboard.press("Enter")
    expect(page.get_by_text("All done")).to_be_visible()
    page.get_by_role("link", name="Mine").click()

    first = page.get_by_role("article").first
    expect(first.get_by_text("D > C", exact=True)).to_be_visible()
    expect(first.get_by_text("D is 1st, C is 2nd; A and B have no rank.")).to_be_visible()
    first.get_by_role("button", name="Show the prompt and 4 responses").click()
    for text in RESPONSES:
        expect(first.get_by_text(text.replace("**", ""))).to_be_visible()
    page.get_by_label("Search your judgments").fill("(0)")
    expect(page.get_by_role("article")).to_have_count(1)
    page.get_by_role("link", name="Revise").click()
    expect(page.get_by_label("Response A").get_by_text("1st")).to_be_visible()
    expect(page.get_by_role("button", name="Skip")).to_have_count(0)
    page.keyboard.type("d1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Revised: A = D > B > C.")).to_be_visible()
    expect(first.get_by_text("revision 2")).to_be_visible()
    first.get_by_text("1 earlier revision").click()
    expect(first.get_by_text("A > B > C > D", exact=True)).to_be_visible()
    assert barriers(page, axe) == []

    assert [one["revision"] for one in judgments(workshop, project)] == [2, 1]


def test_reasoning_is_folded_in_ones_own_judgments(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Folded")
    texts = ("<think>It has four sides.</think>A square.", "<think>Round, so far", "A line.")
    workshop.comparisons(project, 1, texts)
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    page.keyboard.type("abc")
    page.keyboard.press("Enter")
    expect(page.get_by_text("All done")).to_be_visible()
    page.get_by_role("link", name="Mine").click()
    page.get_by_role("button", name="Show the prompt and 3 responses").click()
    expect(page.get_by_text("A square.")).to_be_visible()
    expect(page.get_by_text("(no answer after the reasoning)")).to_be_visible()
    expect(page.get_by_text("think>")).to_have_count(0)
    expect(page.get_by_text("It has four sides.")).not_to_be_visible()
    page.get_by_text("Reasoning, 4 words").click()
    expect(page.get_by_text("It has four sides.")).to_be_visible()


def test_a_page_that_waits_says_for_what_and_goes_on_by_itself(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Waiting")
    workshop.comparisons(project, 1)
    user = workshop.post("/users", {"name": "Eve", "role": "researcher", "project_ids": [project]})[
        "id"
    ]
    key = workshop.post(f"/users/{user}/keys", {"name": "k"})["key"]
    theirs = {"Authorization": f"Bearer {key}"}
    lease = workshop.client.post(f"/projects/{project}/assignments", headers=theirs).json()
    page = open_page(f"/projects/{project}/rank")
    expect(page.get_by_text("Nothing for you right now")).to_be_visible()
    expect(page.get_by_text("1 comparison is with other annotators")).to_be_visible()
    expect(page.get_by_text("All done")).to_have_count(0)

    body = {"reason": "not my field"}
    workshop.client.post(f"/assignments/{lease['id']}/skip", json=body, headers=theirs)

    assert len(shown(page)) == 4
    page.keyboard.type("abcd")
    page.keyboard.press("Enter")
    expect(page.get_by_text("All done")).to_be_visible()
    workshop.take_in(project, "comparisons", [{"prompt": "new", "responses": ["x", "y"]}])
    assert len(shown(page)) == 2


def test_keys_are_changed_and_stay_changed(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    project = workshop.new_project("Own keys")
    workshop.comparisons(project, 2)
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    page.keyboard.press("?")
    page.get_by_role("button", name="Change keys").click()
    page.get_by_role("button", name="X: all bad").click()
    page.keyboard.press("s")
    expect(page.get_by_text("S is taken: skip, with a reason.")).to_be_visible()
    page.keyboard.press("c")
    expect(page.get_by_text("C is the letter of a response.")).to_be_visible()
    page.keyboard.press("k")
    expect(page.get_by_text("K: all bad.")).to_be_visible()
    assert barriers(page, axe) == []
    page.get_by_role("button", name="Done").click()
    page.reload()
    shown(page)
    page.keyboard.press("x")
    expect(page.get_by_role("button", name="All bad K")).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("k")
    expect(page.get_by_role("button", name="All bad K")).to_have_attribute("aria-pressed", "true")
