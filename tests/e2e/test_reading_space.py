"""Room to read: how much of the screen the responses have, and ranking by touch."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, TimeoutError, expect

from tests.e2e.conftest import OpenPage
from tests.e2e.test_rank import shown, wait_for_judgments
from tests.e2e.test_touch_targets import small_targets
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

# The share of the height in which text of responses is seen; 720x450 is 1440x900 at 200 % zoom.
BARS = {
    (1920, 1080): 0.55,
    (1440, 900): 0.55,
    (1024, 768): 0.55,
    (720, 450): 0.45,
    (360, 740): 0.45,
}
TURNS = ("Which wool is this?", "It is merino. " * 30, "How do I get a coffee stain out of it?")


def words(count: int, name: str) -> str:
    """A response of so many words, in paragraphs of sixty."""
    text = [name, *("wool" if n % 7 else "carefully" for n in range(count - 1))]
    return "\n\n".join(" ".join(text[at : at + 60]) for at in range(0, count, 60))


def conversation(*responses: str) -> dict[str, Any]:
    """A comparison after three turns, of which the second is long."""
    roles = ("user", "assistant", "user")
    messages = [{"role": r, "content": c} for r, c in zip(roles, TURNS, strict=True)]
    return {"messages": messages, "responses": list(responses)}


def resize(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function("([w, h]) => innerWidth === w && innerHeight === h", arg=[width, height])


def is_in_sight(page: Page, locator: Locator) -> bool:
    """Whether the middle of an element is on the screen, and nothing lies over it."""
    return bool(
        locator.evaluate("""(one) => {
          const box = one.getBoundingClientRect();
          const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
          return hit !== null && one.contains(hit);
        }""")
    )


def card(page: Page, letter: str) -> Locator:
    return page.get_by_role("article", name=f"Response {letter}")


def bar(page: Page) -> Locator:
    return page.get_by_label("Your ranking")


def test_responses_have_most_of_the_height_on_every_screen(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    project = workshop.new_project("Height")
    row = conversation(*(words(300, name) for name in ("one", "two", "three", "four")))
    workshop.take_in(project, "comparisons", [row])
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    page.evaluate(axe)
    shares, barriers = {}, {}
    for width, height in BARS:
        resize(page, width, height)
        shares[width, height] = least_share(page)
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            page.wait_for_function(
                "(now) => document.documentElement.dataset.theme === now", arg=theme
            )
            report = page.evaluate("axe.run({ resultTypes: ['violations'] })")
            if found := [
                (one["id"], one["nodes"][0]["html"][:160]) for one in report["violations"]
            ]:
                barriers[width, height, theme] = found
    assert barriers == {}
    assert {size: share for size, share in shares.items() if share < BARS[size]} == {}


def least_share(page: Page) -> float:
    """The share of the height with text of responses, before they are ranked and after."""
    before = page.evaluate(_SHARE_OF_TEXT)
    # The bar below is at its widest when all are placed, and one more tie begins.
    page.keyboard.type("bacd=")
    after = page.evaluate(_SHARE_OF_TEXT)
    for _ in "=bacd":
        page.keyboard.press("Backspace")
    return float(min(before, after))


def test_criteria_leave_the_responses_their_height(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Height under criteria")
    asked = [
        {"name": "helpful", "question": "Which response helps more with what was asked?"},
        {"name": "harmless", "question": "Which response does less harm, if it is followed?"},
    ]
    changed = workshop.client.patch(f"/projects/{project}", json={"criteria": asked})
    assert changed.is_success, changed.text
    row = conversation(*(words(300, name) for name in ("one", "two", "three", "four")))
    workshop.take_in(project, "comparisons", [row])
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    low = {}
    for (width, height), bar in {**BARS, (390, 844): 0.45}.items():
        resize(page, width, height)
        share = least_share(page)
        question = page.locator(".criteria .asked")
        expect(question).to_contain_text(asked[0]["question"])
        assert question.evaluate("(one) => one.scrollHeight <= one.clientHeight + 1")
        if share < bar:
            low[width, height] = share
    assert low == {}


# A row of pixels counts if a paragraph of a response lies there with nothing over it: what is
# scrolled away or covered is not hit.
_SHARE_OF_TEXT = """() => {
  const isText = (x, y) =>
    document.elementFromPoint(x, y)?.closest("article .prose > *") instanceof HTMLElement;
  let rows = 0;
  for (let y = 0; y < innerHeight; y += 1)
    for (let x = 2; x < innerWidth; x += 20)
      if (isText(x, y)) {
        rows += 1;
        break;
      }
  return rows / innerHeight;
}"""


def test_short_responses_take_their_room_and_nine_chips_keep_theirs(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Short")
    workshop.take_in(project, "comparisons", [{"prompt": "Why?", "responses": list("abcdefghi")}])
    workshop.comparisons(project, 1)
    page = open_page(f"/projects/{project}/rank")
    seen = []
    for _ in range(2):
        letters = "abcdefghi"[: len(shown(page))]
        seen.append(len(letters))
        sizes = page.evaluate(_SIZES)
        assert sizes["cards"] > 0.6
        assert sizes["type"] >= (24 if len(letters) == 4 else 18)
        page.keyboard.type("=".join(letters))
        for width, height in BARS:
            resize(page, width, height)
            chips = page.locator(".step .chip").all()
            boxes = [chip.bounding_box() for chip in chips]
            assert len(boxes) == len(letters)
            assert min(box["width"] for box in boxes if box) >= 28
            assert all(is_in_sight(page, chip) for chip in chips)
        resize(page, 1440, 900)
        before = page.get_by_label("Prompt").inner_text()
        page.keyboard.press("Enter")
        expect(page.get_by_label("Prompt").filter(has_text=before)).to_have_count(0)
    assert sorted(seen) == [4, 9]


_SIZES = """() => ({
  cards: document.querySelector(".cards").getBoundingClientRect().height / innerHeight,
  type: parseFloat(getComputedStyle(document.querySelector("article .prose p")).fontSize),
})"""


def test_long_responses_stand_two_by_two_and_how_one_reads_is_kept(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Long")
    names = ("one", "two", "three", "four")
    row = conversation(*(words(301 + 400 * n, name) for n, name in enumerate(names)))
    workshop.take_in(project, "comparisons", [row])
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    boxes = [card(page, letter).bounding_box() for letter in "ABCD"]
    places = [(round(box["x"]), round(box["y"])) for box in boxes if box]
    assert places[0][1] == places[1][1] < places[2][1] == places[3][1]
    assert places[0][0] == places[2][0] < places[1][0] == places[3][0]

    # The prompt: its last turn, then all of it.
    turns = page.get_by_label("Prompt").locator("li .prose")
    assert [is_in_sight(page, turn) for turn in turns.all()] == [False, False, True]
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Fold")).to_be_visible()
    assert all(is_in_sight(page, turn) for turn in turns.all())

    # All scroll to their ends with one of them, and their letters stay.
    page.keyboard.press("y")
    card(page, "B").get_by_text("wool").first.click()
    for _ in range(40):
        page.keyboard.press("Space")
    page.wait_for_function(_ALL_AT_THEIR_ENDS)
    for letter in "ABCD":
        assert is_in_sight(
            page, card(page, letter).get_by_role("button", name=f"Rank {letter} next")
        )

    page.keyboard.press("m")
    expect(card(page, "B")).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(card(page, "C")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("article")).to_have_count(4)
    page.keyboard.press("m")
    expect(page.get_by_role("article")).to_have_count(1)
    page.reload()
    expect(card(page, "A")).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page.get_by_role("button", name="Scroll together")).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(page.get_by_role("button", name="Fold")).to_be_visible()
    page.get_by_role("button", name="A alone").click()
    expect(page.get_by_role("article")).to_have_count(4)


_ALL_AT_THEIR_ENDS = """() => [...document.querySelectorAll("article .body")].every(
  (body) => body.scrollTop > 0 && body.scrollTop + body.clientHeight > body.scrollHeight - 2
)"""


def test_a_comparison_is_ranked_by_touch_on_a_phone(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Touch")
    row = conversation(*(words(300, name) for name in ("one", "two", "three", "four")))
    workshop.take_in(project, "comparisons", [row])
    page = open_page(f"/projects/{project}/rank", width=360, height=740, has_touch=True)
    texts = shown(page)
    for width, height in ((1024, 768), (360, 740)):
        resize(page, width, height)
        assert page.evaluate(_SHARE_OF_TEXT) >= BARS[width, height]
        assert small_targets(page, ".rank-page") == []
    assert is_in_sight(page, card(page, "A").get_by_role("button", name="Rank A next"))

    # To B by a swipe, to C by a tap.
    _swipe_left(page)
    page.wait_for_function("() => document.elementFromPoint(180, 400).closest('#card-B') !== null")
    card(page, "B").get_by_role("button", name="Rank B next").tap()
    card(page, "B").get_by_role("button", name="Next response").tap()
    page.wait_for_function("() => document.elementFromPoint(180, 400).closest('#card-C') !== null")
    for letter in "ADC":
        bar(page).get_by_role("button", name=f"Rank {letter} next").tap()
    expect(card(page, "C").get_by_text("4th")).to_be_visible()
    assert small_targets(page, ".rank-page") == []

    # B A D C; C goes up before D, and A is tied with it.
    page.get_by_role("button", name="Move up C").tap()
    expect(card(page, "C").get_by_text("3rd")).to_be_visible()
    page.get_by_role("button", name="Tie C").tap()
    bar(page).get_by_role("button", name="Tie A with C").tap()
    expect(card(page, "A").get_by_text("2nd =")).to_be_visible()

    for name in ("Word by word", "Guidelines"):
        page.get_by_role("button", name="More").tap()
        page.get_by_role("dialog").get_by_role("button", name=name).tap()
        page.get_by_role("dialog").get_by_role("button", name="Close").tap()
    page.get_by_role("button", name="More").tap()
    assert small_targets(page, ".rank-page") == []
    page.get_by_role("dialog").get_by_role("button", name="Raw text").tap()
    expect(page.locator("article .raw").first).to_be_visible()
    page.get_by_role("button", name="More").tap()
    page.get_by_role("dialog").get_by_role("button", name="Note").tap()
    page.get_by_label("Note for readers").fill("by touch")
    page.get_by_role("button", name="Done").tap()
    page.get_by_role("button", name="Submit").tap()

    (judgment,) = wait_for_judgments(workshop, project, 1)
    responses = workshop.get(f"/projects/{project}/responses")["items"]
    first_words = {one["id"]: one["content"].split()[0] for one in responses}
    tiers = [{first_words[one] for one in tier} for tier in judgment["tiers"]]
    a, b, c, d = (text.split()[0] for text in texts)
    assert tiers == [{b}, {a, c}, {d}]
    assert judgment["comment"] == "by touch"


LONG = ("Here is a report. " * 12 + "\n\n") * 9


@pytest.mark.parametrize("responses", [("yes", "no"), (words(300, "one"), words(300, "two"))])
@pytest.mark.parametrize("before", [False, True])
def test_of_a_long_last_turn_beginning_and_end_are_in_sight(
    workshop: Workshop, open_page: OpenPage, before: bool, responses: tuple[str, ...]
) -> None:
    project = workshop.new_project("Long prompt")
    turns = [{"role": "user", "content": f"First of all, read this. {LONG}Which year was it?"}]
    if before:
        earlier = [("user", "Hello."), ("assistant", "Yes?")]
        turns = [*({"role": r, "content": c} for r, c in earlier), *turns]
    row = {"messages": turns, "responses": list(responses)}
    workshop.take_in(project, "comparisons", [row])
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    missing = {}
    for width, height in (*BARS, (390, 844)):
        resize(page, width, height)
        for text in ("First of all", "Which year was it?"):
            try:
                page.wait_for_function(_IS_READ, arg=text)
            except TimeoutError:
                missing[width, height] = text
    assert missing == {}
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Fold")).to_be_visible()
    expect(page.locator(".prompt .end")).to_have_count(0)


# Whether the prompt shows these words, whole and with nothing over them.
_IS_READ = """(text) => {
  const found = document.createTreeWalker(document.querySelector(".prompt"), NodeFilter.SHOW_TEXT);
  while (found.nextNode()) {
    const at = found.currentNode.data.indexOf(text);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(found.currentNode, at);
    range.setEnd(found.currentNode, at + text.length);
    const box = range.getBoundingClientRect();
    const clip = found.currentNode.parentElement.closest(".lines, .end").getBoundingClientRect();
    if (box.top >= clip.top - 4 && box.bottom <= clip.bottom + 4) return true;
  }
  return false;
}"""


def test_short_responses_are_whole_on_a_phone(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Whole")
    answers = [f"Answer number {n}, a plain one." for n in range(8)]
    workshop.take_in(project, "comparisons", [{"prompt": "First.", "responses": answers}])
    long = [words(60, name) for name in ("one", "two", "three")]
    workshop.take_in(project, "comparisons", [{"prompt": "Second.", "responses": long}])
    page = open_page(f"/projects/{project}/rank", width=390, height=844)
    for _ in range(2):
        texts = shown(page)
        cut = page.evaluate(
            """() => [...document.querySelectorAll("article .body")]
              .filter((body) => body.scrollHeight > body.clientHeight + 1).length"""
        )
        assert cut == 0
        last = card(page, "ABCDEFGHI"[len(texts) - 1])
        last.locator(".body").scroll_into_view_if_needed()
        assert is_in_sight(page, last.locator(".prose"))
        page.keyboard.press("x")
        before = page.get_by_label("Prompt").inner_text()
        page.keyboard.press("Enter")
        expect(page.get_by_label("Prompt").filter(has_text=before)).to_have_count(0)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (820, 1180)])
def test_every_entry_of_the_sheet_can_be_tapped(
    workshop: Workshop, open_page: OpenPage, width: int, height: int
) -> None:
    project = workshop.new_project(f"Sheet {width}")
    workshop.comparisons(project, 2)
    page = open_page(f"/projects/{project}/rank", width=width, height=height, has_touch=True)
    shown(page)
    before = page.get_by_label("Prompt").inner_text()
    more = page.get_by_role("button", name="More")
    sheet = page.get_by_role("dialog", name="More")
    more.tap()
    expect(sheet).to_be_visible()
    names = sheet.locator("button .grow").all_inner_texts()
    for name in names:
        entry = sheet.get_by_role("button", name=name)
        if not entry.is_visible():
            # On a phone one is alone as it is.
            assert (name, width) == ("One at a time", 390)
            continue
        entry.scroll_into_view_if_needed()
        assert is_in_sight(page, entry), name
        box, room = entry.bounding_box(), sheet.bounding_box()
        assert box is not None
        assert room is not None
        assert room["x"] <= box["x"]
        assert box["x"] + box["width"] <= room["x"] + room["width"]
    sheet.get_by_role("button", name="Close").tap()

    windows = {
        "Skip": "Skip this comparison",
        "Word by word": "Compare two responses word by word",
        "Note": "Note",
        "Guidelines": "Guidelines",
        "Shortcuts": "Keyboard shortcuts",
    }
    assert set(windows) < set(names)
    for name, title in windows.items():
        more.tap()
        sheet.get_by_role("button", name=name).tap()
        page.get_by_role("dialog", name=title).get_by_role("button", name="Close").tap()
    for name in set(names) - set(windows) - {"One at a time"}:
        more.tap()
        sheet.get_by_role("button", name=name).tap()
        expect(sheet).to_have_count(0)
        more.tap()
        expect(sheet.get_by_role("button", name=name)).to_have_attribute("aria-pressed", "true")
        sheet.get_by_role("button", name=name).tap()
    more.tap()
    sheet.get_by_role("button", name="Skip").tap()
    page.get_by_role("button", name="too long").tap()
    expect(page.get_by_label("Prompt")).not_to_have_text(before)


def test_cards_are_dragged_onto_the_bar_and_chips_clicked(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Mouse")
    workshop.comparisons(project, 1)
    page = open_page(f"/projects/{project}/rank")
    texts = dict(zip("ABCD", shown(page), strict=True))
    rank = {letter: card(page, letter).locator(".rank") for letter in "ABCD"}
    _drag(page, card(page, "A").locator(".handle"), page.locator(".step"))
    expect(rank["A"]).to_have_text("1st")
    _drag(page, bar(page).get_by_role("button", name="Rank C next"), page.locator(".step.set"))
    expect(rank["C"]).to_have_text("1st =")
    bar(page).get_by_role("button", name="Rank D next").click()
    expect(rank["D"]).to_have_text("2nd")
    _drag(page, bar(page).get_by_role("button", name="Select C"), page.locator(".gap").first)
    expect(rank["C"]).to_have_text("1st")
    expect(rank["A"]).to_have_text("2nd")
    _drag(page, bar(page).get_by_role("button", name="Select A"), page.locator(".tray"))
    expect(rank["A"]).to_have_text("unranked")
    page.get_by_role("button", name="Move down C").click()
    expect(rank["C"]).to_have_text("2nd")
    page.get_by_role("button", name="Submit").click()

    (judgment,) = wait_for_judgments(workshop, project, 1)
    responses = workshop.get(f"/projects/{project}/responses")["items"]
    content = {one["id"]: one["content"].replace("**", "") for one in responses}
    assert [[content[one] for one in tier] for tier in judgment["tiers"]] == [
        [texts["D"]],
        [texts["C"]],
    ]
    assert {content[one] for one in judgment["unranked"]} == {texts["A"], texts["B"]}


def _drag(page: Page, what: Locator, onto: Locator) -> None:
    for locator, press in ((what, page.mouse.down), (onto, page.mouse.up)):
        box = locator.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
        press()


def _swipe_left(page: Page) -> None:
    """A finger that comes down, moves and leaves, as the browser gets it from a screen."""
    finger = page.context.new_cdp_session(page)
    places = [{"x": 300 - 16 * n, "y": 400} for n in range(16)]
    for n, place in enumerate(places):
        kind = "touchMove" if n else "touchStart"
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [place]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_at_400_percent_the_page_scrolls_and_few_colours_tell_what_is_pressed(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Zoomed in")
    row = conversation(*(words(60, name) for name in ("one", "two", "three")))
    workshop.take_in(project, "comparisons", [row])
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    # 1280x900 at 400 %: each response is read in the scroll of the page, and no bar lies over it.
    resize(page, 320, 225)
    least = 0.4
    for letter in "ABC":
        card(page, letter).locator(".prose").evaluate("(one) => one.scrollIntoView()")
        assert page.evaluate(_SHARE_OF_TEXT) > least, letter
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    top = page.evaluate("scrollY")
    page.keyboard.press("Shift+Space")
    page.wait_for_function("(top) => scrollY < top", arg=top)

    resize(page, 1280, 900)
    page.emulate_media(forced_colors="active")
    page.keyboard.type("ba")
    paper = "(one) => getComputedStyle(one).backgroundColor"
    bar = page.get_by_role("region", name="Your ranking")
    chips = [bar.get_by_role("button", name=f"Select {letter}") for letter in "ab"]
    expect(chips[0]).to_have_attribute("aria-pressed", "true")
    assert chips[0].evaluate(paper) != chips[1].evaluate(paper)

    # An arrow opens the list of projects; it leads to no other project.
    chosen = page.get_by_role("combobox", name="Project")
    chosen.press("ArrowDown")
    assert chosen.evaluate("(one) => one.matches(':open')")
    assert page.url.endswith(f"/projects/{project}/rank")
