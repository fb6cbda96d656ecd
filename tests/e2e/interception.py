"""Requests of a page that has been loaded, given to a test before they are sent."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, Route

from tests.processes import wait_until

# An address of the server that nothing on a page asks for.
_PROBE = "/healthz"
_IS_INTERCEPTED = f"fetch('{_PROBE}').then(({{ status }}) => status === 204)"


def intercept(
    page: Page, address: str | re.Pattern[str], handle: Callable[[Route], object]
) -> None:
    """From the next request on, those to `address` go to `handle`.

    A page that has been loaded may send a few past it at first: each part of the browser is told by
    itself.
    """
    page.route(address, handle)
    page.route(f"**{_PROBE}", lambda route: route.fulfill(status=204))
    wait_until(lambda: bool(page.evaluate(_IS_INTERCEPTED)), "the page's requests are intercepted")
    page.unroute(f"**{_PROBE}")
