"""A run from the form to the curve that grows by itself."""

import random
import re
from collections.abc import Callable
from statistics import fmean
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, Route, expect

from backend.schemas.run_directory.events import MetricLine
from tests.e2e.conftest import OpenPage, forget
from tests.e2e.late_answers import TWO_FRAMES
from tests.e2e.tcp_proxy import tcp_proxy
from tests.e2e.workshop import REFUSE, Workshop
from tests.processes import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

_POINTS = """(name) => {
  const text = document.querySelector(`section[aria-label="${name}"] .plot`)?.ariaLabel ?? "";
  return Number(/(\\d+) points/.exec(text)?.[1] ?? 0);
}"""

# The answers with curves are kept back until the test lets them go.
_HOLD_CURVES = """
const fetchAtOnce = window.fetch;
const held = new Map();
let count = 0;
window.isHeld = (number) => held.has(number);
window.letGo = () => {
  window.fetch = fetchAtOnce;
  for (const go of held.values()) go();
};
window.fetch = async (...asked) => {
  if (!String(asked[0]).includes("/metrics?")) return fetchAtOnce(...asked);
  const number = ++count;
  const answer = await fetchAtOnce(...asked);
  await new Promise((go) => held.set(number, go));
  return answer;
};
"""
# Its stream is then its own, and a test can hold it back.
_SHARE_NOTHING = "delete window.SharedWorker;"
# Each address that the page takes from now on, in order.
_KEEP_ADDRESSES = """() => {
  window.addresses = [];
  const replace = history.replaceState.bind(history);
  history.replaceState = (state, title, address) => {
    window.addresses.push(String(address));
    replace(state, title, address);
  };
}"""


def points(page: Page) -> int:
    """How many points the curve of the loss has on screen."""
    return int(page.evaluate(_POINTS, "loss"))


def wait_for_points(page: Page, least: int) -> None:
    wait_until(lambda: points(page) >= least, f"the curve has {least} points")


def point_at(page: Page) -> Callable[[float], None]:
    """Moves the mouse to a share of the width of the loss's chart, in the middle of its height."""
    box = page.locator("section[aria-label='loss'] .u-over").bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    return lambda share: page.mouse.move(box["x"] + box["width"] * share, y, steps=4)


def test_a_run_started_from_the_form_draws_its_curve_without_a_reload(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("From the form")
    workshop.base_model(project)
    workshop.demonstrations(project)
    page = open_page(f"/projects/{project}/runs/new?method=sft")
    page.get_by_label("Name", exact=True).fill("by hand")
    page.get_by_label("model (model)").select_option(index=1)
    page.get_by_label("demonstrations (demonstrations)").select_option(index=1)
    page.get_by_role("button", name="Start the run").click()
    expect(page.get_by_role("heading", name="by hand")).to_be_visible()
    loads: list[str] = []
    page.on("load", lambda _: loads.append(page.url))

    wait_for_points(page, 3)
    wait_for_points(page, min(points(page) + 5, 60))
    expect(page.locator("section[aria-label='loss'] canvas")).to_be_visible()
    expect(page.get_by_text("succeeded", exact=True)).to_be_visible()

    wait_for_points(page, 60)
    assert loads == []
    run = workshop.get("/runs", project_id=project)["items"][0]
    assert points(page) == run["progress"]["step"] == 60


def test_points_that_come_while_the_curve_is_loaded_are_kept(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Slow answer")
    (run,) = workshop.paused_runs(workshop.prepare_run(project), 1)
    page = open_page(f"/projects/{project}/data")
    page.add_init_script(_HOLD_CURVES)
    page.goto(f"/projects/{project}/runs/{run}/logs")
    # The page asks when it opens, and again when it has joined the stream.
    wait_until(lambda: page.evaluate("window.isHeld(2)"), "the second answer is held")

    lines = [MetricLine(step=n, time=float(n), values={"loss": 1 / (1 + n)}) for n in range(20)]
    workshop.report(run, *lines)
    workshop.print_lines(run, "the last")
    # The page has been told of it, so of every point before it.
    expect(page.get_by_text("the last", exact=True)).to_be_visible()
    page.get_by_role("link", name="Curves").click()
    page.evaluate("window.letGo()")

    wait_for_points(page, 20)


def test_curves_that_were_lost_on_their_way_are_asked_for_until_they_come(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Lost answers")
    (run,) = workshop.paused_runs(workshop.prepare_run(project), 1)
    workshop.report(run, *[MetricLine(step=n, time=n, values={"loss": 1.0}) for n in range(20)])
    with tcp_proxy(workshop.url) as proxy:
        # More often than other requests are tried, each in the middle of its body.
        proxy.cut_in_answers("/api/v1/metrics?", times=4)
        page = open_page(f"{proxy.url}/projects/{project}/runs/{run}")

        wait_for_points(page, 20)

        assert proxy.cuts_left == 0
        workshop.report(run, MetricLine(step=20, time=20.0, values={"loss": 1.0}))
        wait_for_points(page, 21)
        assert points(page) == 21
    forget(open_page, "net::ERR_")


def test_lines_stored_before_the_stream_is_heard_are_shown(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Late stream")
    (run,) = workshop.paused_runs(workshop.prepare_run(project), 1)
    # More than one page of the list.
    first = [f"line {number}" for number in range(5001)]
    workshop.print_lines(run, *first)
    page = open_page(f"/projects/{project}/data")
    page.add_init_script(_SHARE_NOTHING)
    held: list[Route] = []
    page.route("**/stream?*", lambda route: held.append(route))
    page.goto(f"/projects/{project}/runs/{run}/logs")
    lines = page.get_by_role("log").locator("code")
    expect(lines.last).to_have_text(first[-1])
    assert len(held) == 1

    workshop.print_lines(run, "before the stream")
    held.pop().continue_()
    expect(lines.last).to_have_text("before the stream")
    workshop.print_lines(run, "by the stream")

    expect(lines.last).to_have_text("by the stream")
    expect(page.get_by_text("5,000 of 5,003 lines")).to_be_visible()


def test_new_points_do_not_move_the_zoom(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Zoom")
    # Longer than anybody looks: on a busy machine sixty steps are over before the zoom.
    run = workshop.start_behaving(project, steps=5000, step_s=0.1)
    page = open_page(f"/projects/{project}/runs/{run}")
    wait_for_points(page, 8)
    to = point_at(page)
    to(0.2)
    page.mouse.down()
    to(0.6)
    page.mouse.up()
    page.wait_for_url("**zoom=**")
    zoomed = page.url
    seen = points(page)
    wait_for_points(page, seen + 5)
    assert page.url == zoomed


def test_points_that_come_during_a_drag_do_not_move_what_is_selected(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Drag")
    run = workshop.start_behaving(project, steps=5000, step_s=0.1)
    page = open_page(f"/projects/{project}/runs/{run}")
    wait_for_points(page, 8)
    to = point_at(page)
    to(0.2)
    page.mouse.down()
    to(0.4)
    wait_for_points(page, points(page) + 8)
    to(0.6)
    page.evaluate(_KEEP_ADDRESSES)
    page.mouse.up()
    page.wait_for_url("**zoom=**")
    page.evaluate(TWO_FRAMES)

    # All charts follow the drag, and one tells of it.
    assert page.evaluate("addresses") == [page.url.removeprefix(workshop.url)]
    start, end = map(float, unquote(page.url).split("zoom=")[1].split("~"))
    assert end - start == pytest.approx(2 * (start - 1), rel=0.05)


def test_a_zoom_into_a_long_curve_shows_its_points_and_marks_what_is_missing(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Long")
    run = workshop.prepare_run(project)
    noise = random.Random(1)
    values: list[float | None] = [
        2 + 3 / (1 + n / 4000) + noise.gauss(0, 0.1) for n in range(30_000)
    ]
    values[20_000] = None
    lines = [
        MetricLine(step=n, tokens=700 * n, time=1.7e9 + 0.9 * n, values={"curve/long": value})
        for n, value in enumerate(values)
    ]
    workshop.report(run, *lines)
    page = open_page(f"/projects/{project}/runs/{run}?zoom=")
    card = page.locator("section[aria-label='curve/long']")
    expect(card.get_by_text("1 NaN")).to_be_visible()
    said = r"^curve.long: 30,000 points, 1 of them without a value, .* means of \d{3} buckets"
    plot = card.get_by_role("img", name=re.compile(said))
    expect(plot).to_be_visible()
    # Single values are noise: the head has means, and of a bucket the cursor has its mean.
    first, last = fmean(values[:6_000]), fmean(values[-6_000:])
    newest = f"Mean of the last fifth of its values; the newest is {values[-1]:#.3g}"
    expect(card.get_by_title(newest, exact=True)).to_contain_text(f"last fifth {last:#.3g}")
    expect(card.get_by_text(f"first fifth {first:#.3g}")).to_be_visible()
    plot.hover()
    expect(
        card.get_by_text(re.compile(r"^mean of 32 values up to step 1[45],\d{3}$"))
    ).to_be_visible()

    page.goto(f"/projects/{project}/runs/{run}?zoom=19500~20500")
    # A thousand steps closer, and the rest as it was.
    closer = re.compile(r"curve.long: 30,000 points, .* the means of 1,[3-9]\d\d buckets")
    expect(card.get_by_role("img", name=closer)).to_be_visible()
    page.goto(f"/projects/{project}/runs/{run}?x=relative&zoom=17550~18450")
    expect(card.get_by_role("img", name=closer)).to_be_visible()


def test_a_run_is_cancelled_from_its_page_and_retried(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Cancel")
    # Longer than anybody looks: a run that ends by itself is not cancelled.
    run = workshop.start_behaving(project, steps=5000, step_s=0.1)
    page = open_page(f"/projects/{project}/runs/{run}")
    wait_for_points(page, 2)
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Cancel the run").click()
    expect(page.get_by_text("cancelled", exact=True)).to_be_visible()
    workshop.behave(run, steps=60)
    page.get_by_role("button", name="Retry").click()
    expect(page.get_by_text("succeeded", exact=True)).to_be_visible()
    assert workshop.get(f"/runs/{run}")["attempt"] == 2


def test_cancelling_shows_at_once_and_ends_a_trainer_that_does_not_listen(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Deaf")
    run = workshop.start_behaving(project, steps=5, hang=True, deaf=True)
    page = open_page(f"/projects/{project}/runs/{run}")
    wait_for_points(page, 5)
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Cancel the run").click()
    # Within the grace, in which the trainer still runs.
    expect(page.get_by_text("stopping", exact=True)).to_be_visible()
    assert workshop.get(f"/runs/{run}")["state"] == "stopping"
    # It does all that it would do.
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_have_count(0)
    expect(page.get_by_text("cancelled", exact=True)).to_be_visible()


def test_a_paused_run_says_where_it_is_before_it_is_cancelled(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Paused")
    run = workshop.start_behaving(project, steps=5, hang=True)
    page = open_page(f"/projects/{project}/runs/{run}")
    wait_for_points(page, 5)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("paused", exact=True)).to_be_visible()

    # One or two: the worker may have claimed the run before it was prepared.
    expect(page.get_by_text(re.compile(r"^[12] attempts?, started"))).to_be_visible()
    page.get_by_role("button", name="Cancel", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The run is paused at step 5 of 5.")
    dialog.get_by_role("button", name="Keep it paused").click()
    expect(dialog).to_have_count(0)

    assert workshop.get(f"/runs/{run}")["state"] == "paused"


def test_a_run_goes_on_from_a_checkpoint_as_a_new_run(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Continue")
    parent = workshop.start_sft(project)
    workshop.wait_for_run(parent, "succeeded")
    page = open_page(f"/projects/{project}/runs/{parent}/checkpoints")
    page.get_by_role("link", name="Continue from step 40", exact=True).click()
    expect(page.get_by_label("Checkpoint", exact=True)).to_have_value("40")
    page.get_by_label("Name", exact=True).fill("the rest")
    page.get_by_label("Experiment").fill("is a part enough?")
    page.get_by_label("Tags").fill("rest, seed 0")
    page.get_by_label("Priority").fill("7")
    page.get_by_role("button", name="Start the run").click()
    expect(page.get_by_role("heading", name="the rest")).to_be_visible()
    expect(page.get_by_text("continues from step 40 of another run")).to_be_visible()
    expect(page.get_by_text("succeeded", exact=True)).to_be_visible()
    wait_for_points(page, 20)

    child = workshop.get("/runs", project_id=project)["items"][0]
    assert (child["parent_id"], child["parent_step"]) == (parent, 40)
    assert (child["tags"], child["priority"]) == (["rest", "seed 0"], 7)
    (listed,) = workshop.get("/experiments", project_id=project)["items"]
    experiment = workshop.get(f"/experiments/{listed['id']}")
    assert (experiment["name"], experiment["run_ids"]) == ("is a part enough?", [child["id"]])
    (loss,) = workshop.get("/metrics", runs=child["id"], names="loss")["series"]
    assert (loss["x"][0], loss["x"][-1]) == (41, 60)


def test_a_checkpoint_is_pinned_by_keyboard_and_let_go_again(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Pin")
    run = workshop.start_behaving(project, steps=6, checkpoint_every=2)
    workshop.wait_for_run(run, "succeeded")
    page = open_page(f"/projects/{project}/runs/{run}/checkpoints", width=390)
    pin = page.get_by_role("button", name="Pin step 4", exact=True)
    unpin = page.get_by_role("button", name="Unpin step 4", exact=True)

    pin.focus()
    page.keyboard.press("Enter")

    expect(unpin).to_have_text("Unpin")
    listed = workshop.get(f"/runs/{run}/checkpoints")["items"]
    assert [(one["step"], one["is_pinned"]) for one in listed] == [
        (2, False), (4, True), (6, False)
    ]  # fmt: skip
    # Who pressed it by keyboard can press it again.
    expect(unpin).to_be_focused()
    page.evaluate(REFUSE, "/unpin")
    page.keyboard.press("Enter")
    refusal = page.get_by_role("alert")
    expect(refusal).to_contain_text("The store is away.")
    page.evaluate("window.refused = null")
    refusal.get_by_role("button", name="Try again").press("Enter")
    expect(pin).to_have_text("Pin")
    expect(refusal).to_have_count(0)


def test_the_curve_goes_on_without_a_reload_when_the_api_was_killed(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Restart")
    # It does not end before the API is killed: nobody follows what is over.
    run = workshop.start_behaving(project, steps=60, step_s=0.1, hang=True)
    page = open_page(f"/projects/{project}/runs/{run}")
    loads: list[str] = []
    page.on("load", lambda _: loads.append(page.url))
    wait_for_points(page, 3)
    killed = workshop.api_pid()

    with workshop.killed_api():
        expect(page.get_by_text("no connection, reconnecting")).to_be_visible()
    wait_for_points(page, 60)
    workshop.report(run, MetricLine(step=61, time=61.0, values={"loss": 0.0}))
    wait_for_points(page, 61)
    workshop.post(f"/runs/{run}/cancel", {})
    expect(page.get_by_text("cancelled", exact=True)).to_be_visible()
    assert workshop.api_pid() != killed
    assert loads == []
    # The browser itself tells of lost connections; nothing else may be wrong.
    forget(open_page, "net::ERR_")
