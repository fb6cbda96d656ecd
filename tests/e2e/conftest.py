"""A running Podium, a real Chromium and a signed-in page for the browser tests.

One server for the whole run, started as its users start it; each test makes a project of its own.
The trainer is `worker.process.fake_trainer`, everything else is real. A page that logs an error to
the console fails the test that opened it.
"""

import re
import shutil
from collections.abc import Callable, Generator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Page,
    StorageState,
    expect,
    sync_playwright,
)
from playwright.sync_api import Error as PlaywrightError

from tests import processes
from tests.e2e.windows import PATIENCE_MS, Look, Windows, open_window
from tests.e2e.workshop import Workshop
from tests.worker.floor import write_model

# `make test` reads them, too. First Chromium without a window: it takes half the processor time of
# the browser that hides one.
NAMES = Path(__file__).with_name("browsers.txt").read_text().split()
INSECURE_HOST = "podium.test"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-component-update",
    "--disable-background-networking",
    "--no-first-run",
    # To Chromium localhost is as secure as TLS; under this name the same server is on plain http.
    f"--host-resolver-rules=MAP {INSECURE_HOST} 127.0.0.1",
]
TRAINER = "python -m worker.process.fake_trainer --steps 60 --step-s 0.1 --checkpoint-every 20"

OpenPage = Callable[..., Page]

expect.set_options(timeout=PATIENCE_MS)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Says of a failed test what its pages showed: what is rare is seen once."""
    report = yield
    if call.when == "call" and report.failed:
        for page in getattr(item.funcargs.get("open_page"), "pages", []):
            report.sections.append((f"the page {page.url}", shown(page)))
    return report


def shown(page: Page) -> str:
    """What the page showed, as a screen reader tells it."""
    try:
        return page.locator("body").aria_snapshot(timeout=10_000)
    except PlaywrightError as error:
        return str(error)


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """A server with one worker on an empty data directory."""
    folder = tmp_path_factory.mktemp("e2e")
    data_dir, log = folder / "data", folder / "up.log"
    write_model(data_dir / "models" / "base")
    env = processes.environment(
        data_dir,
        PODIUM_PORT="0",
        PODIUM_ALLOWED_HOSTS=INSECURE_HOST,
        PODIUM_TRAINER_COMMAND=TRAINER,
        # Long enough to be looked at.
        PODIUM_CRASH_BACK_OFF_S="[600]",
        PODIUM_STOP_GRACE_S="60",
    )
    with processes.running(["podium", "up"], env, log) as process:
        processes.wait_until(
            (data_dir / "server.json").exists, "the server is ready", process=process, log=log
        )
        shop = Workshop(data_dir, env)
        yield shop
        shop.close()


@pytest.fixture(autouse=True)
def free_slot(workshop: Workshop) -> Iterator[None]:
    """The one slot of the server is free after each test, whatever a failed one left in it."""
    yield
    workshop.cancel_live_runs()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The first of these that is installed."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    assert found is not None, "no Chromium is installed; `make test` installs one"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS, timeout=PATIENCE_MS)
        yield browser
        browser.close()


def zone_at_noon() -> str:
    """A time zone in which it is about noon: there no midnight ends a day during a test."""
    hours = 12 - datetime.now(UTC).hour
    # The names have reversed signs: five hours east of Greenwich is GMT-5.
    return f"Etc/GMT{-hours:+d}" if hours else "Etc/GMT"


@pytest.fixture(scope="session")
def signed_in(browser: Browser, workshop: Workshop) -> StorageState:
    """The cookies of an administrator who came by the sign-in link."""
    context = open_window(browser)
    page = context.new_page()
    page.goto(workshop.sign_in_link())
    page.get_by_role("button", name="Sign out").wait_for()
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture(scope="session")
def windows(browser: Browser, workshop: Workshop, signed_in: StorageState) -> Windows:
    """Windows of the administrator, used by one test after the other."""
    return Windows(browser, workshop.url, signed_in)


@pytest.fixture
def open_page(windows: Windows) -> Iterator[OpenPage]:
    """Opens an address in a signed-in window as if it were new; a look of it may be given.

    Each page that a test opens so has a window of its own.
    """
    pages: list[Page] = []
    complaints: list[str] = []
    forgotten: list[str] = []

    def complain(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    def open_one(path: str, **look: Any) -> Page:
        page = windows.open(Look(**look))
        pages.append(page)
        page.on("console", complain)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path)
        return page

    open_one.pages = pages  # type: ignore[attr-defined]
    open_one.complaints = complaints  # type: ignore[attr-defined]
    open_one.forgotten = forgotten  # type: ignore[attr-defined]
    yield open_one
    windows.give_back()
    assert [text for text in complaints if not any(re.search(one, text) for one in forgotten)] == []


def forget(open_page: OpenPage, reason: str) -> None:
    """The console says what failed, also of requests that are still under way.

    Anything else is a complaint still.
    """
    complaints = open_page.complaints  # type: ignore[attr-defined]
    assert all(re.search(reason, text) for text in complaints), complaints
    complaints.clear()
    open_page.forgotten.append(reason)  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, an accessibility checker."""
    source = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
    return source.read_text(encoding="utf-8")
