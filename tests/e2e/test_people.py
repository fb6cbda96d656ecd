"""From names to first judgments: invite, come in by the link, read the guidelines, rank."""

import json
import time

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import OpenPage, zone_at_noon
from tests.e2e.test_pages import barriers
from tests.e2e.test_rank import judgments, wait_for_held
from tests.e2e.windows import open_window
from tests.e2e.workshop import RESPONSES, Workshop
from tests.processes import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PASSWORD = "correct horse battery"
# Whoever is invited has judged by then, from the click on the link.
FIRST_JUDGMENT_S = 60


def invite(page: Page, *names: str) -> list[str]:
    """Paste names on the members page; returns a link for each."""
    page.get_by_role("button", name="Invite people").first.click()
    page.get_by_label("Names, one per line").fill("\n".join(names))
    page.get_by_role("button", name=f"Make {len(names)} link").click()
    fields = [page.get_by_label(f"Link for {name}", exact=True) for name in names]
    links = [field.input_value() for field in fields]
    page.get_by_role("button", name="Done").click()
    return links


def come_in(page: Page, link: str, email: str) -> None:
    """Open a link and set a password."""
    page.goto(link)
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Set password and start").click()


def test_two_browsers_from_a_link_to_the_first_judgment(
    workshop: Workshop, open_page: OpenPage, browser: Browser
) -> None:
    project = workshop.new_project("People")
    workshop.comparisons(project, 3)
    page = open_page(f"/projects/{project}/settings/members")
    ada, bela = invite(page, "Ada Lovelace", "Bela")
    assert "/invitation#token=" in ada
    expect(page.get_by_role("region", name="Open invitations").get_by_role("row")).to_have_count(3)

    context = open_window(browser, timezone_id=zone_at_noon())
    theirs = context.new_page()
    clicked = time.monotonic()
    theirs.goto(ada)
    expect(theirs.get_by_text("You are invited to People as an annotator.")).to_be_visible()
    theirs.goto("about:blank")
    come_in(theirs, ada, "ada@example.org")
    expect(theirs.get_by_role("heading", name="Read the guidelines first")).to_be_visible()
    theirs.get_by_role("button", name="I have read version 1").click()
    expect(theirs.get_by_text(RESPONSES[0])).to_be_visible()
    expect(theirs.get_by_text("3 left for you")).to_be_visible()
    theirs.keyboard.type("badc")
    theirs.keyboard.press("Enter")
    expect(theirs.get_by_text("1 judgment today")).to_be_visible()
    assert time.monotonic() - clicked < FIRST_JUDGMENT_S
    expect(theirs.get_by_text("2 left for you")).to_be_visible()
    expect(theirs.locator(".note.bad")).to_have_count(0)

    (judgment,) = workshop.get(f"/projects/{project}/judgments")["items"]
    people = {one["id"]: one for one in workshop.get(f"/projects/{project}/members")["items"]}
    assert people[judgment["user_id"]]["name"] == "Ada Lovelace"
    assert people[judgment["user_id"]]["guidelines_version"] == 1

    # The link is used up, and says no more than that.
    theirs.goto("about:blank")
    theirs.goto(ada)
    expect(theirs.get_by_text("This invitation link does not work")).to_be_visible()
    page.reload()
    expect(page.get_by_role("region", name="Members").get_by_text("Ada Lovelace")).to_be_visible()
    page.get_by_role("button", name="Revoke the link of Bela").click()
    expect(page.get_by_text("No open invitations")).to_be_visible()
    theirs.goto("about:blank")
    theirs.goto(bela)
    expect(theirs.get_by_text("This invitation link does not work")).to_be_visible()
    context.close()


def test_an_annotator_finds_rank_and_guidelines_and_no_red_page(
    workshop: Workshop, browser: Browser
) -> None:
    project = workshop.new_project("Quiet")
    workshop.comparisons(project, 2)
    run = workshop.start_sft(project)
    body = {"people": [{"name": "Chidi"}], "role": "annotator"}
    (made,) = workshop.post(f"/projects/{project}/invitations", body)["items"]
    context = open_window(browser, base_url=workshop.url)
    page = context.new_page()
    come_in(page, f"/invitation#token={made['token']}", "chidi@example.org")
    page.get_by_role("button", name="I have read version 1").click()
    expect(page.get_by_text(RESPONSES[0])).to_be_visible()
    refused: list[str] = []
    page.on("response", lambda one: refused.append(one.url) if one.status >= 400 else None)

    expect(page.get_by_role("navigation", name="Main").get_by_role("link")).to_have_text(
        ["", "Rank", "Mine", "Guidelines"]
    )
    places = ("now", "data", "data/judgments", "runs", f"runs/{run}", "runs/new", "models",
              "experiments", "workers", "settings", "settings/members")  # fmt: skip
    for place in places:
        page.goto(f"/projects/{project}/{place}")
        expect(page.get_by_text(RESPONSES[0])).to_be_visible()
        assert page.url.endswith(f"/projects/{project}/rank")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(8)
    page.keyboard.press("Escape")
    page.goto(f"/projects/{project}/guidelines")
    expect(page.get_by_text("You acknowledged version 1")).to_be_visible()
    expect(page.locator(".note.bad")).to_have_count(0)
    assert refused == []
    for place in (f"/runs/{run}", "/projects/project_nothing/rank"):
        page.goto(place)
        expect(page.get_by_text("There is no such page")).to_be_visible()
    context.close()


# Where links lead to and what buttons say that begin something which only some roles may do.
ADDRESSES = r"/runs/new|/data/import|[?&]freeze=|/rank(/|$)"
VERBS = (
    r"^(Add|Archive|Attach|Cancel|Clone|Continue|Edit|Freeze|I have read|Import|Invite|Make|New|"
    r"Pause|Pin|Put|Register|Rename|Restart|Restore|Resume|Retry|Sample|Send|Train|Write) ?\b"
)
OFFERED = """
([addresses, verbs]) => [...document.querySelectorAll("a, button, main input[type=checkbox]")]
    .filter((one) => one.checkVisibility())
    .map((one) => ({
        words: (one.getAttribute("aria-label") ?? one.closest("label")?.innerText ?? one.innerText)
            .trim(),
        to: one.getAttribute("href") ?? "",
    }))
    .filter(({ words, to }) => new RegExp(addresses).test(to) || new RegExp(verbs).test(words))
    .map(({ words }) => words)
"""


def offered(page: Page) -> list[str]:
    """What can be pressed on a page that changes the project, ranks, or begins to."""
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(".skeleton")).to_have_count(0)
    return list(page.evaluate(OFFERED, [ADDRESSES, VERBS]))


def test_a_viewer_is_offered_nothing_that_the_api_refuses(
    workshop: Workshop, open_page: OpenPage, browser: Browser, axe: str
) -> None:
    project, empty = workshop.new_project("Read only"), workshop.new_project("Nothing to read")
    workshop.comparisons(project, 2)
    run = workshop.start_behaving(project, steps=6, checkpoint_every=2, exit=3)
    workshop.wait_for_run(run, "failed")
    model = workshop.left_by(run, project)
    (paused,) = workshop.paused_runs(run, 1)
    prompt = workshop.get(f"/projects/{project}/prompts")["items"][0]["id"]
    for step in (1, 2):
        workshop.sample(run, step=step, prompt_id=prompt, response=f"said at {step}")
    asked = {"project_id": project, "name": "Longer", "question": "Do longer runs help?"}
    experiment = workshop.post("/experiments", asked)["id"]
    records = ("prompts", "demonstrations", "solutions", "responses", "comparisons", "judgments")
    data = [f"data/{tab}" for tab in (*records, "agreement", "snapshots")]
    filled = (
        "now", *data, "runs", f"runs/{run}", f"runs/{run}/checkpoints", f"runs/{paused}",
        f"runs/{run}/samples?prompt={prompt}", "experiments", f"experiments/{experiment}",
        "models", f"models/{model}", "workers", "guidelines",
    )  # fmt: skip
    places = [
        *(f"/projects/{project}/{place}" for place in filled),
        *(f"/projects/{empty}/{place}" for place in ("now", *data, "runs", "experiments")),
    ]
    body = {"people": [{"name": "Gul"}], "role": "viewer"}
    (made,) = workshop.post(f"/projects/{project}/invitations", body)["items"]
    context = open_window(browser, base_url=workshop.url)
    page = context.new_page()
    come_in(page, f"/invitation#token={made['token']}", "gul@example.org")
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    members = workshop.get(f"/projects/{project}/members")["items"]
    (user,) = [one["id"] for one in members if one["name"] == "Gul"]
    roles = [{"project_id": one, "role": "viewer"} for one in (project, empty)]
    workshop.client.patch(f"/users/{user}", json={"memberships": roles}).raise_for_status()
    refused: list[str] = []
    page.on("response", lambda one: refused.append(one.url) if one.status >= 400 else None)

    found, problems = {}, {}
    for place in places:
        page.goto(place)
        if offers := offered(page):
            found[place] = offers
        if barred := barriers(page, axe):
            problems[place] = barred
    assert found == {}
    assert problems == {}

    page.goto(f"/projects/{project}/runs/new?method=sft")
    expect(page).to_have_url(f"{workshop.url}/projects/{project}/runs")
    page.goto(f"/projects/{project}/data/import")
    expect(page).to_have_url(f"{workshop.url}/projects/{project}/data")
    page.goto(f"/projects/{project}/data/snapshots?freeze=preferences")
    expect(page.get_by_role("table")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.goto(f"/projects/{project}/now")
    expect(page.locator(".statistic").filter(has_text="Comparisons to judge")).to_contain_text("2")
    page.goto(f"/projects/{empty}/data")
    expect(page.get_by_text("when a researcher of this project imports them")).to_be_visible()
    assert refused == []
    context.close()

    # The same pages offer it to who may: so the words above are those of the pages.
    page = open_page("/")
    theirs = set()
    for place in places:
        page.goto(place)
        theirs |= set(offered(page))
    assert theirs >= {
        "Import", "Freeze a snapshot", "New run", "Register a model", "Clone", "Pin step 4",
        "Continue from step 4", "Resume", "Import a file", "Sample responses to rank",
        "Restart from the beginning",
    }  # fmt: skip


def test_a_new_version_is_read_before_the_next_comparison(
    workshop: Workshop, open_page: OpenPage, browser: Browser
) -> None:
    project = workshop.new_project("Versions")
    workshop.comparisons(project, 8)
    body = {"people": [{"name": "Devi"}], "role": "annotator"}
    (made,) = workshop.post(f"/projects/{project}/invitations", body)["items"]
    context = open_window(browser, base_url=workshop.url, timezone_id=zone_at_noon())
    theirs = context.new_page()
    come_in(theirs, f"/invitation#token={made['token']}", "devi@example.org")
    theirs.get_by_role("button", name="I have read version 1").click()
    expect(theirs.get_by_text(RESPONSES[0])).to_be_visible()
    wait_for_held(theirs, 3)

    page = open_page(f"/projects/{project}/settings")
    page.get_by_label("Guidelines for annotators").fill("# Rules\n\nPrefer what **is brief**.")
    page.get_by_label("Judgments per comparison").fill("2")
    page.get_by_label("Reasons for").fill("not my language\nneeds a lawyer")
    page.get_by_role("button", name="Save as version 2").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_text("acknowledged by 1 person")).to_be_visible()
    assert workshop.get(f"/projects/{project}")["judgments_per_comparison"] == 2

    # Comparisons that are at hand may be ended first; then nothing more comes.
    for _ in range(3):
        if theirs.get_by_role("heading", name="The guidelines have changed").is_visible():
            break
        theirs.keyboard.type("abcd")
        theirs.keyboard.press("Enter")
    expect(theirs.get_by_role("heading", name="The guidelines have changed")).to_be_visible()
    expect(theirs.get_by_text("Version 2, compared with version 1")).to_be_visible()
    expect(theirs.locator(".changes ins").filter(has_text="brief")).to_be_visible()
    gone = theirs.locator(".changes del").filter(has_text="helps")
    expect(gone).to_have_css("text-decoration-line", "line-through")
    theirs.get_by_role("button", name="I have read version 2").click()
    expect(theirs.get_by_text(RESPONSES[0])).to_be_visible()
    theirs.reload()
    expect(theirs.get_by_text(RESPONSES[0])).to_be_visible()
    theirs.keyboard.press("j")
    expect(theirs.get_by_role("button", name="needs a lawyer")).to_be_visible()
    theirs.keyboard.press("2")
    expect(theirs.get_by_role("button", name="needs a lawyer", pressed=True)).to_be_visible()
    theirs.keyboard.press("Enter")
    wait_until(
        lambda: any(one["verdict"] == "cannot_judge" for one in judgments(workshop, project)),
        "the last judgment arrived",
    )
    # How many were at hand and judged depends on when the page heard of the new version.
    (last, *earlier) = judgments(workshop, project)
    assert (last["verdict"], last["reasons"]) == ("cannot_judge", ["needs a lawyer"])
    assert all(one["verdict"] == "ranked" for one in earlier)
    assert len(earlier) <= 3
    count = 1 + len(earlier)
    said = f"{count} judgment{'s' if count > 1 else ''} today"
    expect(theirs.get_by_text(said)).to_be_visible()
    context.close()


def go_on(page: Page) -> None:
    """Leave what practice expected: an Enter within 0.4 seconds is the second of a double press."""
    page.wait_for_timeout(500)
    page.keyboard.press("Enter")


def test_the_way_in_leads_through_practice_which_is_tried_until_it_is_passed(
    workshop: Workshop, open_page: OpenPage, browser: Browser
) -> None:
    project = workshop.new_project("Practice")
    workshop.comparisons(project, 9)  # more than the page of the lead holds
    lead = open_page(f"/projects/{project}/rank")
    lead.get_by_role("button", name="Use for practice").click()
    expect(lead.get_by_text("Rank the comparison first")).to_be_visible()
    lead.keyboard.press("Escape")
    expected = best_first(lead)
    lead.keyboard.type("abcd")
    lead.get_by_role("button", name="Use for practice").click()
    lead.get_by_label("Why is this").fill("Wool shrinks in **hot** water.")
    lead.get_by_role("dialog").get_by_role("button", name="Use for practice").click()
    expect(lead.get_by_role("dialog")).to_have_count(0)
    lead.goto(f"/projects/{project}/settings/practice")
    expect(lead.get_by_text("Wool shrinks in hot water.")).to_be_visible()
    lead.get_by_role("button", name="Change the explanation").click()
    lead.get_by_label("Why is this").fill("Wool felts in **hot** water.")
    lead.get_by_role("button", name="Save").last.click()
    expect(lead.get_by_text("Wool felts in hot water.")).to_be_visible()

    body = {"people": [{"name": "Edda"}], "role": "annotator"}
    (made,) = workshop.post(f"/projects/{project}/invitations", body)["items"]
    context = open_window(browser, base_url=workshop.url, timezone_id=zone_at_noon())
    page = context.new_page()
    come_in(page, f"/invitation#token={made['token']}", "edda@example.org")
    page.get_by_role("button", name="I have read version 1").click()
    page.get_by_role("button", name="Start practising").click()
    rank(page, expected[::-1])
    expect(page.get_by_role("heading", name="Not as expected")).to_be_visible()
    expect(page.get_by_text("Wool felts in hot water.")).to_be_visible()
    page.reload()  # what is not read yet is shown again
    expect(page.get_by_role("heading", name="Not as expected")).to_be_visible()
    expect(page.get_by_text("Wool felts in hot water.")).to_be_visible()
    go_on(page)
    expect(page.get_by_role("heading", name="Not passed yet")).to_be_visible()
    page.reload()
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("button", name="Start practising").click()
    rank(page, expected)
    expect(page.get_by_text("You have passed.")).to_be_visible()
    go_on(page)
    expect(page.get_by_text("0 judgments today")).to_be_visible()
    rank(page, expected)
    expect(page.get_by_text("1 judgment today")).to_be_visible()
    assert len(workshop.get(f"/projects/{project}/judgments")["items"]) == 1
    lead.goto(f"/projects/{project}/settings/members")
    expect(lead.get_by_role("row", name="Edda")).to_contain_text("passed")

    change_password(page)
    context.close()


def test_of_two_responses_the_dialog_asks_what_is_expected_and_practice_waits_for_enter(
    workshop: Workshop, open_page: OpenPage, browser: Browser
) -> None:
    project = workshop.new_project("Practice of two", guidelines="")
    workshop.comparisons(project, 3, ("yes", "no"))
    lead = open_page(f"/projects/{project}/rank")
    worse, better = best_first(lead)
    lead.get_by_role("button", name="Use for practice").click()
    dialog = lead.get_by_role("dialog")
    use = dialog.get_by_role("button", name="Use for practice")
    expect(use).to_be_disabled()
    dialog.get_by_role("button", name="B is better").click()
    use.click()
    expect(dialog).to_have_count(0)
    assert judgments(workshop, project) == []

    body = {"people": [{"name": "Gil"}], "role": "annotator"}
    (made,) = workshop.post(f"/projects/{project}/invitations", body)["items"]
    context = open_window(browser, base_url=workshop.url)
    page = context.new_page()
    come_in(page, f"/invitation#token={made['token']}", "gil@example.org")
    page.get_by_role("button", name="Start practising").click()
    letters = dict(zip(best_first(page), "ab", strict=True))
    # A slip, which is mended before it counts.
    page.keyboard.press(letters[worse])
    expect(
        page.get_by_label(f"Response {letters[worse].upper()}").get_by_text("1st")
    ).to_be_visible()
    page.keyboard.press(letters[better])
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="As expected", exact=True)).to_be_visible()
    expect(page.get_by_text("You have passed.")).to_be_visible()
    context.close()


def test_who_is_deactivated_is_told_so_and_keeps_what_was_not_sent(
    workshop: Workshop, browser: Browser
) -> None:
    project = workshop.new_project("Deactivated", guidelines="")
    workshop.comparisons(project, 6)
    body = {"people": [{"name": "Fee"}], "role": "annotator"}
    (made,) = workshop.post(f"/projects/{project}/invitations", body)["items"]
    context = open_window(browser, base_url=workshop.url)
    page = context.new_page()
    come_in(page, f"/invitation#token={made['token']}", "fee@example.org")
    expect(page.get_by_text(RESPONSES[0])).to_be_visible()
    context.set_offline(True)
    page.keyboard.type("abcd")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 judgment not sent yet.")).to_be_visible()
    members = workshop.get(f"/projects/{project}/members")["items"]
    user = next(one["id"] for one in members if one["name"] == "Fee")
    workshop.client.patch(f"/users/{user}", json={"is_active": False}).raise_for_status()
    context.set_offline(False)

    # Over the page that is still open, and where a new tab asks to sign in.
    for _ in range(2):
        page.get_by_label("E-mail").fill("fee@example.org")
        page.get_by_label("Password").fill("wrong horse battery")
        page.locator("form").get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("The e-mail address or the password is wrong.")).to_be_visible()
        page.get_by_label("Password").fill(PASSWORD)
        page.locator("form").get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("This account is deactivated.")).to_be_visible()
        left = page.locator("form").get_by_role("status")
        expect(left).to_contain_text("1 judgment of yours is not sent.")
        with page.expect_download() as download:
            left.get_by_role("button", name="Download").click()
        kept = json.loads(download.value.path().read_bytes())
        assert [one["user_id"] for one in kept["judgments"]] == [user]
        page.goto("about:blank")
        page.goto(f"{workshop.url}/projects/{project}/rank")
    context.close()


def best_first(page: Page) -> list[str]:
    """The texts of the cards in their order."""
    cards = page.get_by_role("article")
    expect(cards.first).to_be_visible()
    return [text.strip() for text in cards.locator(".body").all_inner_texts()]


def rank(page: Page, order: list[str]) -> None:
    """Type the letters of these texts, best first, and submit."""
    expect(page.get_by_text("PROMPT")).to_be_visible()
    shown = best_first(page)
    page.keyboard.type("".join("abcd"[shown.index(text)] for text in order))
    page.keyboard.press("Enter")


def change_password(page: Page) -> None:
    """Change one's own password and come in with it."""
    new = "another horse battery"
    page.get_by_role("link", name="Edda").click()
    page.get_by_label("Current password").fill("wrong horse battery")
    page.get_by_label("New password", exact=True).fill(new)
    page.get_by_label("New password again").fill(new)
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_role("alert")).to_contain_text("is not your password")
    page.get_by_label("Current password").fill(PASSWORD)
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_text("Your password is changed.")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("E-mail").fill("edda@example.org")
    page.get_by_label("Password").fill(new)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Edda")).to_be_visible()
