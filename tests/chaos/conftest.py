"""Sites to break: one per backend and module, so that a death has survivors with a past."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.chaos.disturbance import Work, undisturbed
from tests.chaos.site import Site, embedded_site, server_site

# Two and a half seconds of training, a checkpoint every half second.
_FAKE = "worker.fake_trainer --steps 50 --step-s 0.05 --checkpoint-every 10"
_CONFIG = {
    "method": "sft",
    "model": {"id": "model_base"},
    "demonstrations": {"id": "snapshot_demonstrations"},
}

FakeSite = tuple[Site, Work]


@pytest.fixture(scope="module")
def fake_site(
    tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path
) -> Iterator[Callable[[str], FakeSite]]:
    """Opens the site of a backend with the fake trainer, or gives the one that is open."""
    with ExitStack() as stack:
        open_sites: dict[str, FakeSite] = {}

        def open_site(backend: str) -> FakeSite:
            if backend not in open_sites:
                folder = tmp_path_factory.mktemp(backend)
                site = stack.enter_context(
                    embedded_site(folder, sqlite_template, trainer=_FAKE)
                    if backend == "embedded"
                    else server_site(folder, trainer=_FAKE)
                )
                open_sites[backend] = site, undisturbed(site, _CONFIG)
            return open_sites[backend]

        yield open_site
