"""All tabs of a browser share one stream of events, whatever happens to them."""

import time
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, Request, expect
from playwright.sync_api import Error as PlaywrightError

from backend.schemas.run_directory.events import MetricLine
from tests.e2e.conftest import OpenPage, forget
from tests.e2e.tcp_proxy import tcp_proxy
from tests.e2e.test_run import points, wait_for_points
from tests.e2e.workshop import Workshop
from tests.processes import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

TABS = 20
# The bar is a second; a test run's machine has other things to do.
NOW_S = 120
# Compare asks at most every ten seconds.
QUIET_S = 12
ASKED_S = 120


def open_tab(context: BrowserContext, address: str) -> Page:
    """One more tab of the same browser; it loads beside the others."""
    page = context.new_page()
    page.goto(address, wait_until="commit")
    return page


def losses(*steps: int) -> list[MetricLine]:
    return [
        MetricLine(step=step, time=float(step), values={"loss": 1 / (1 + step)}) for step in steps
    ]


def wait_for_streams(workshop: Workshop, count: int) -> None:
    wait_until(lambda: workshop.open_streams() == count, f"{count} streams are open")


def test_twenty_tabs_of_runs_share_one_stream_and_outlive_one_another(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Twenty tabs")
    base = f"{workshop.url}/projects/{project}"
    finished = workshop.prepare_run(project, steps=12, hang=True)
    paused = workshop.paused_runs(finished, TABS - 1)
    wait_for_streams(workshop, 0)
    first = open_page(f"/projects/{project}/runs/{finished}")
    expect(first.get_by_text("cancelled", exact=True)).to_be_visible()
    # A worker may have taken the run before it was cancelled: then it has points already.
    expect(first.get_by_role("region", name="Verdict")).to_be_visible()
    assert workshop.open_streams() == 0

    first.get_by_role("button", name="Retry").click()
    wait_for_points(first, 12)
    tabs = [open_tab(first.context, f"{base}/runs/{run}") for run in paused]
    for tab in tabs:
        expect(tab.get_by_text("live", exact=True)).to_be_visible()
    for run in paused:
        workshop.report(run, *losses(0, 1, 2))
    for tab in tabs:
        wait_for_points(tab, 3)
    wait_for_streams(workshop, 1)

    began = time.monotonic()
    now = open_tab(first.context, f"{base}/now")
    expect(now.get_by_role("link", name="run 18")).to_be_visible()
    took_s = time.monotonic() - began
    assert took_s < NOW_S

    # What the tabs share lives in the process of the first, which tells nobody that it dies.
    with pytest.raises(PlaywrightError):
        first.goto("chrome://crash")
    for run in paused:
        workshop.report(run, *losses(3))
    for tab in tabs:
        wait_for_points(tab, 4)
    wait_for_streams(workshop, 1)


def test_a_stream_that_is_cut_leaves_no_gap_and_repeats_nothing(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Cut")
    (run,) = workshop.paused_runs(workshop.prepare_run(project), 1)
    total, pieces = 60, 6
    with tcp_proxy(workshop.url) as proxy:
        base = f"{proxy.url}/projects/{project}/runs/{run}"
        logs = open_page(f"{base}/logs")
        curves = open_tab(logs.context, base)
        for tab in (logs, curves):
            expect(tab.get_by_text("live", exact=True)).to_be_visible()
        wait_for_streams(workshop, 1)

        for piece in range(pieces):
            steps = range(piece * total // pieces, (piece + 1) * total // pieces)
            workshop.print_lines(run, *(f"line {step}" for step in steps))
            workshop.report(run, *losses(*steps))
            if piece % 2 == 0:
                assert proxy.cut() > 0
            else:
                wait_for_points(curves, steps.stop)

        wait_for_points(curves, total)
        lines = logs.get_by_role("log").locator("code")
        expect(lines).to_have_text([f"line {step}" for step in range(total)])
        assert points(curves) == total
    forget(open_page, "net::ERR_")


def wait_until_asked(page: Page, asked: list[str], *names: str) -> None:
    """Wait for the means and the curves of each metric."""
    deadline = time.monotonic() + ASKED_S
    while any(asked.count(name) < 2 for name in names):
        assert time.monotonic() < deadline, f"wanted {names} twice; asked for {asked}"
        # Requests are noted while the page is waited for.
        page.wait_for_timeout(100)


def wait_until_quiet(page: Page, asked: list[str]) -> None:
    """Wait until no metric was asked for during more than one interval of asking."""
    deadline = time.monotonic() + ASKED_S
    known, since = -1, time.monotonic()
    while time.monotonic() < since + QUIET_S:
        named = sum(map(bool, asked))
        if named != known:
            known, since = named, time.monotonic()
        assert time.monotonic() < deadline, f"is not quiet; asked for {asked}"
        page.wait_for_timeout(100)


def test_a_comparison_asks_again_only_for_what_its_runs_have_told(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Compared while it runs")
    run = workshop.start_behaving(project, steps=12, hang=True)
    (other,) = workshop.paused_runs(run, 1)
    page = open_page(f"/projects/{project}/runs/{run}")
    wait_for_points(page, 12)
    asked: list[str] = []

    def note(request: Request) -> None:
        names = parse_qs(urlsplit(request.url).query).get("names", [""])
        asked.append(names[0].split(",")[0])

    page.on("request", note)
    page.goto(
        f"{workshop.url}/projects/{project}/compare?runs={run},{other}&metrics=loss,reward/mean"
    )
    # Means and curves of both; some were answered before the run was followed and come once more.
    wait_until_asked(page, asked, "loss", "reward/mean")
    wait_for_streams(workshop, 1)
    wait_until_quiet(page, asked)

    asked.clear()
    workshop.report(run, *losses(20))
    wait_until_asked(page, asked, "loss")
    assert "reward/mean" not in asked
