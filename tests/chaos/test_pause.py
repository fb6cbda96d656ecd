"""Pause, restart every process, resume: the curve goes on to the bit."""

from random import Random

import pytest

from backend.store.tables.runs import Run
from tests.chaos import laws
from tests.chaos.conftest import OpenSite
from tests.chaos.disturbance import TRIES, Work, hold_laws
from tests.chaos.follower import Follower
from tests.chaos.site import Site


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["embedded", pytest.param("servers", marks=pytest.mark.chaos)])
def test_a_run_that_slept_through_a_restart_of_everything_ends_the_same_to_the_bit(
    warm_site: OpenSite, backend: str
) -> None:
    site, work = warm_site(backend)
    last = max(step for _, step in work.values)
    paused, follower = paused_run(site, work, Random(backend), last)
    run_id = paused.id
    assert paused.checkpoint_step is not None
    assert 0 < paused.checkpoint_step < last
    laws.assert_no_orphans(site)
    site.restart()
    assert site.floor.run(run_id).state == "paused"
    assert site.call("POST", f"/runs/{run_id}/resume")["state"] == "queued"
    site.floor.wait_for(run_id, *laws.ENDED, timeout_s=180)

    hold_laws(site, run_id, follower, work)
    assert site.floor.states(run_id) == [
        *("queued", "running", "stopping", "paused"),
        *("queued", "running", "succeeded"),
    ]
    starts = [event.data["step"] for event in site.floor.events(run_id, "start")]
    assert starts == [0, paused.checkpoint_step]
    # The stop was between two steps: nothing that was told had to be taken back and told again.
    told = [
        (name, point["step"])
        for event in follower.events
        for point in event.get("points", ())
        for name in point["values"]
    ]
    assert len(told) == len(set(told))


def paused_run(site: Site, work: Work, chance: Random, last: int) -> tuple[Run, Follower]:
    """A run that was paused early, and who follows it; if one ends before, another is made."""
    for _ in range(TRIES):
        run_id = site.create_run("paused", work.config)
        follower = Follower(site.url, site.key, run_id)
        follower.start()
        site.floor.wait_for_step(run_id, chance.randint(1, last // 6))
        if told := site.call("POST", f"/runs/{run_id}/pause", too_late=409):
            assert told["state"] == "stopping"
            run = site.floor.wait_for(run_id, "paused", *laws.ENDED)
            if run.state == "paused":
                return run, follower
        laws.assert_ended_well(site.floor.wait_for(run_id, *laws.ENDED))
        follower.stop()
    raise AssertionError(f"{TRIES} runs had ended before they could be paused")
