"""Sites to break: one per backend and module, so that a death has survivors with a past."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tests.chaos.clock import Clock
from tests.chaos.disturbance import Work, undisturbed
from tests.chaos.site import SFT, SHORT, Site, embedded_site, server_site
from tests.worker.conftest import redis_floor, sqlite_floor  # noqa: F401 - for the tests here
from tests.worker.tiny_floor import plant_tiny_model

# Two and a half seconds of training, a checkpoint every half second.
_FAKE = "worker.process.fake_trainer --steps 50 --step-s 0.05 --checkpoint-every 10"
# Some seconds of training on one thread, and as many again for the libraries.
_REAL_CONFIG = {
    **SFT,
    "demonstrations": {"id": "snapshot_more"},
    "optim": {"lr": 1e-3, "batch_size": 2, "epochs": 200},
    "precision": "fp32",
    "resources": {"threads": 1},
    "checkpoint_every": 20,
}
# The beats and sweeps of an operator who sets nothing: the promised 90 s are about these.
_DEFAULTS: dict[str, str] = {}
# As long as the fake trainer: with the beats of `SHORT` there is time enough to kill or pause it.
_SHORT_CONFIG = {
    **_REAL_CONFIG,
    "optim": {"lr": 1e-3, "batch_size": 2, "epochs": 60},
    "checkpoint_every": 10,
}

OpenSite = Callable[[str], tuple[Site, Work]]


@pytest.fixture(scope="module")
def stack() -> Iterator[ExitStack]:
    """What is closed when the module ends."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture(scope="module")
def fake_site(
    tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path, stack: ExitStack
) -> OpenSite:
    """Opens the site of a backend with the fake trainer, or gives the one that is open."""

    @cache
    def open_site(backend: str) -> tuple[Site, Work]:
        folder = tmp_path_factory.mktemp(backend)
        opened = site_of(backend, folder, sqlite_template, _FAKE, SHORT)
        site = stack.enter_context(opened)
        return site, undisturbed(site, SFT)

    return open_site


@pytest.fixture(scope="module")
def real_site(
    tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path, stack: ExitStack
) -> OpenSite:
    """The same with the real trainer, a tiny model and the default settings."""

    @cache
    def open_site(backend: str) -> tuple[Site, Work]:
        folder = tmp_path_factory.mktemp(f"real-{backend}")
        opened = site_of(backend, folder, sqlite_template, "worker.trainer", _DEFAULTS)
        return _train_on(stack.enter_context(opened), _REAL_CONFIG)

    return open_site


@pytest.fixture(scope="module")
def warm_site(
    tmp_path_factory: pytest.TempPathFactory,
    sqlite_template: Path,
    stack: ExitStack,
    warm_python: str,
) -> OpenSite:
    """The same in short: quick beats, and trainers that begin with their libraries loaded."""

    @cache
    def open_site(backend: str) -> tuple[Site, Work]:
        folder = tmp_path_factory.mktemp(f"warm-{backend}")
        opened = site_of(
            backend, folder, sqlite_template, "worker.trainer", SHORT, python=warm_python
        )
        return _train_on(stack.enter_context(opened), _SHORT_CONFIG)

    return open_site


def _train_on(site: Site, config: dict[str, Any]) -> tuple[Site, Work]:
    plant_tiny_model(site.floor)
    return site, undisturbed(site, config)


def site_of(
    backend: str,
    folder: Path,
    template: Path,
    trainer: str,
    settings: Mapping[str, str],
    clocks: Mapping[str, Clock] = MappingProxyType({}),
    python: str = sys.executable,
) -> AbstractContextManager[Site]:
    """The site of a backend, not opened yet."""
    how: dict[str, Any] = {"settings": settings, "clocks": clocks, "python": python}
    if backend == "embedded":
        return embedded_site(folder, template, trainer=trainer, **how)
    return server_site(folder, trainer=trainer, **how)
