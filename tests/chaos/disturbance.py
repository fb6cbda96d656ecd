"""One disturbance: several runs at work, one part killed at a random moment, then the laws."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from random import Random
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from tests import processes
from tests.chaos import laws
from tests.chaos.follower import Follower
from tests.chaos.site import Site

# A victim that has just ended by itself is no victim: so often are runs made anew.
TRIES = 5


@dataclass(frozen=True)
class Work:
    """What is run meanwhile, and what an undisturbed one of it looks like."""

    config: dict[str, Any]
    seconds: float
    values: laws.Values
    weights: list[str | None]
    samples: list[int]


def undisturbed(site: Site, config: dict[str, Any]) -> Work:
    """Run it once in peace."""
    run_id = site.create_run("undisturbed", config)
    started = time.monotonic()
    run = site.floor.wait_for(run_id, *laws.ENDED, timeout_s=180)
    laws.assert_ended_well(run)
    laws.assert_logs_are_whole(site, run_id)
    samples = sorted(
        event.data["step"] for event in site.floor.events(run_id, "sample")
    )  # What the stream told of; the store's rows are compared with it.
    values, weights = laws.values_of(site, run_id), laws.weights_of(site, run_id)
    assert len(weights) == 1
    return Work(config, time.monotonic() - started, values, weights, samples)


def disturb(site: Site, victim: str, chance: Random, work: Work, *, runs: int = 3) -> float:
    """Kill `victim` while `runs` runs are made and run, then hold every law.

    Returns the seconds from recovery to the last run's end; `laws.RECOVERY_S` are promised, and a
    machine with other things to do gets more.
    """
    with ThreadPoolExecutor(1) as elsewhere:
        made = elsewhere.submit(_make_runs, site, work, runs)
        if victim in ("guard", "trainer"):
            followers = made.result()
            for _ in range(TRIES):
                if _kill_process_of(site, victim, chance, list(followers), work):
                    break
                followers |= _make_runs(site, work, runs)
            else:
                raise AssertionError(f"each {victim} had ended before it could be killed")
        else:
            # From before the first run is made to about the end of the last.
            time.sleep(chance.uniform(0.0, work.seconds))
            _kill_part(site, victim, chance)
            followers = made.result()
    recovered = time.monotonic()
    try:
        seconds = _wait_for_ends(site, list(followers), recovered, work)
        for run_id, follower in followers.items():
            hold_laws(site, run_id, follower, work)
    finally:
        for follower in followers.values():
            follower.stop()
    laws.assert_no_orphans(site)
    return seconds


def _make_runs(site: Site, work: Work, count: int) -> dict[str, Follower]:
    followers = {}
    for number in range(count):
        run_id = site.create_run(f"disturbed {number}", work.config)
        followers[run_id] = Follower(site.url, site.key, run_id)
        followers[run_id].start()
    return followers


def _kill_part(site: Site, victim: str, chance: Random) -> None:
    part = chance.choice(site.workers) if victim == "worker" else site.servers[victim]
    part.kill()
    time.sleep(chance.uniform(0.0, 1.5))
    part.start()
    part.wait_until_ready()


def _kill_process_of(
    site: Site, victim: str, chance: Random, run_ids: list[str], work: Work
) -> bool:
    """Kill a guard or a trainer at a random moment of its life; whether one was still alive."""
    find = site.guards if victim == "guard" else site.trainers
    processes.wait_until(
        lambda: bool(find(run_ids)) or _have_ended(site, run_ids), f"a {victim} lives"
    )
    moment = time.monotonic() + chance.uniform(0.0, work.seconds / 2)
    # A machine whose other work has ended meanwhile is soon through with all runs.
    while time.monotonic() < moment and not _are_nearly_done(site, run_ids, work):
        time.sleep(0.05)
    killed: list[int] = []

    def is_over() -> bool:
        pids = find(run_ids)
        if pids and processes.kill(pid := chance.choice(pids)):
            killed.append(pid)
        return bool(killed) or _have_ended(site, run_ids)

    processes.wait_until(is_over, f"a {victim} was killed")
    return bool(killed)


def _are_nearly_done(site: Site, run_ids: list[str], work: Work) -> bool:
    last_step = max(step for _, step in work.values)
    return all((site.floor.run(run_id).step or 0) > last_step / 2 for run_id in run_ids)


def _have_ended(site: Site, run_ids: list[str]) -> bool:
    try:
        return all(site.floor.run(run_id).state in laws.ENDED[:3] for run_id in run_ids)
    except SQLAlchemyError:
        return False  # The database has come back this very moment; look again.


def _wait_for_ends(site: Site, run_ids: list[str], recovered: float, work: Work) -> float:
    processes.wait_until(
        lambda: _have_ended(site, run_ids),
        f"{run_ids} have ended",
        timeout_s=laws.RECOVERY_S + 3 * len(run_ids) * work.seconds,
        log=site.workers[0].log,
    )
    return time.monotonic() - recovered


def hold_laws(site: Site, run_id: str, follower: Follower, work: Work) -> None:
    """The run has ended as if nobody had disturbed it, and its stream has told all of it."""
    laws.assert_ended_well(site.floor.run(run_id))
    laws.assert_ran_alone(site, run_id)
    laws.assert_told_once(site, run_id, work.values, samples=work.samples)
    assert laws.weights_of(site, run_id) == work.weights
    laws.assert_followed(site, run_id, follower)
