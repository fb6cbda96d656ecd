"""A window that tests use one after the other is for each of them as a new one."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, expect

from tests.e2e.windows import Look, Windows
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

LOOK = Look(width=1000)
# All that a page of the application can keep, and what it shows.
_LEAVE = """async () => {
  localStorage.setItem("left", "1");
  sessionStorage.setItem("left", "1");
  window.name = "left";
  await caches?.open("left");
  await new Promise((done, fail) => {
    const asked = indexedDB.open("left", 1);
    asked.onsuccess = done;
    asked.onerror = fail;
  });
}"""
_FIND = """async () => ({
  local: Object.keys(localStorage).includes("left"),
  session: Object.keys(sessionStorage).includes("left"),
  name: window.name,
  databases: (await indexedDB.databases()).map((one) => one.name).filter((one) => one === "left"),
  caches: await caches.keys(),
  width: innerWidth,
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  intercepted: window.intercepted ?? false,
  clipboard: (await navigator.permissions.query({ name: "clipboard-read" })).state,
})"""
NEW = {
    "local": False, "session": False, "name": "", "databases": [], "caches": [], "width": 1000,
    "dark": False, "intercepted": False,
}  # fmt: skip


@pytest.fixture
def give_back(windows: Windows) -> Iterator[Callable[[], None]]:
    """Ends a test in the midst of this one."""
    yield windows.give_back
    windows.give_back()


def opened(windows: Windows, path: str) -> Page:
    page = windows.open(LOOK)
    page.goto(path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    return page


def test_nothing_of_the_test_before_is_left(
    workshop: Workshop, windows: Windows, give_back: Callable[[], None]
) -> None:
    path = f"/projects/{workshop.new_project('Window')}/now"
    first = opened(windows, path)
    new = first.evaluate(_FIND)
    assert new.items() >= NEW.items()
    first.evaluate(_LEAVE)
    first.add_init_script("window.intercepted = true")
    first.route("**/*", lambda route: route.abort())
    first.emulate_media(color_scheme="dark")
    first.set_viewport_size({"width": 390, "height": 844})
    first.context.grant_permissions(["clipboard-read"])
    give_back()

    second = opened(windows, path)

    assert second.context is first.context
    assert first.is_closed()
    assert second.evaluate(_FIND) == new


def go_offline(page: Page) -> None:
    page.context.set_offline(True)


def sign_out(page: Page) -> None:
    page.context.clear_cookies()


def stop_the_clock(page: Page) -> None:
    page.clock.install()


def open_another_tab(page: Page) -> None:
    page.context.new_page()


def crash(page: Page) -> None:
    with pytest.raises(PlaywrightError):
        page.goto("chrome://crash")


@pytest.mark.parametrize("do", [go_offline, sign_out, stop_the_clock, open_another_tab, crash])
def test_a_window_that_was_changed_as_a_whole_is_used_by_nobody_else(
    windows: Windows, give_back: Callable[[], None], do: Callable[[Page], None]
) -> None:
    first = windows.open(LOOK)
    first.goto("/favicon.svg")
    do(first)
    give_back()

    assert windows.open(LOOK).context is not first.context
