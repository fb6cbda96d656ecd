"""Windows of a browser: new ones, and signed-in ones that tests use one after the other.

A new window loads and compiles the application again in a process of its own, which is half of what
opening a page costs. A window that was used before keeps that process and the files of the
application, and nothing else.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, StorageState
from playwright.sync_api import Error as PlaywrightError

# Milliseconds; on a busy machine a page may take long to draw what it was told.
PATIENCE_MS = 120_000
# Of an origin, besides cookies; what a tab keeps for its session goes with the tab.
_STORED = "local_storage,indexeddb,cache_storage,service_workers"


def open_window(browser: Browser, **options: Any) -> BrowserContext:
    """A window with cookies of its own that waits long for a busy machine.

    It asks for no motion: no test looks at any, and a pulse is painted sixty times a second.
    """
    context = browser.new_context(**{"reduced_motion": "reduce"} | options)
    context.set_default_timeout(PATIENCE_MS)
    return context


@dataclass(frozen=True)
class Look:
    """How a page is looked at."""

    theme: str = "light"
    width: int = 1440
    height: int = 900
    has_touch: bool = False

    def options(self) -> dict[str, Any]:
        """The same as options of a window."""
        return {
            "viewport": {"width": self.width, "height": self.height},
            "has_touch": self.has_touch,
            "color_scheme": "dark" if self.theme == "dark" else "light",
        }


class _Window:
    """A window with a first tab that nobody uses: its process is that of the tab it opens."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self._context = context
        self._url = url
        self._cookies = context.cookies()
        self._keeper = context.new_page()
        self._keeper.goto("/favicon.svg")
        self._storage: CDPSession = context.new_cdp_session(self._keeper)

    def open(self) -> Page:
        """A tab with nothing in it."""
        with self._context.expect_page() as opened:
            self._keeper.evaluate("() => { window.open('about:blank'); }")
        return opened.value

    def clear(self) -> bool:
        """Take away what the test has left; False if it did more than use the tab that it got."""
        tabs = [page for page in self._context.pages if page is not self._keeper]
        try:
            if len(tabs) > 1 or self._is_changed():
                return False
            for tab in tabs:
                tab.close()
            cleared = {"origin": self._url, "storageTypes": _STORED}
            self._storage.send("Storage.clearDataForOrigin", cleared)
            self._context.clear_permissions()
        except PlaywrightError:  # it has crashed
            return False
        return True

    def _is_changed(self) -> bool:
        """Whether its clock, its network or its cookies are others."""
        is_touched = self._keeper.evaluate("'__pwClock' in window || !navigator.onLine")
        return is_touched or self._context.cookies() != self._cookies

    def close(self) -> None:
        self._context.close()


class Windows:
    """Signed-in windows, of which a test that opens several pages gets as many."""

    def __init__(self, browser: Browser, url: str, state: StorageState) -> None:
        """All begin with these cookies; addresses are relative to `url`."""
        self._browser = browser
        self._url = url
        self._state = state
        self._free: defaultdict[Look, list[_Window]] = defaultdict(list)
        self._used: list[tuple[Look, _Window]] = []

    def open(self, look: Look) -> Page:
        """An empty tab in a window that nobody else uses."""
        window = self._free[look].pop() if self._free[look] else self._new(look)
        self._used.append((look, window))
        return window.open()

    def _new(self, look: Look) -> _Window:
        options = look.options() | {"storage_state": self._state, "base_url": self._url}
        return _Window(open_window(self._browser, **options), self._url)

    def give_back(self) -> None:
        """The test has ended: close its tabs, and keep its windows for others."""
        while self._used:
            look, window = self._used.pop()
            if window.clear():
                self._free[look].append(window)
            else:
                window.close()
