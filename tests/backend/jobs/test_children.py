"""Real children that are asked for something while they end."""

import asyncio

import pytest

from backend.errors import Unavailable
from backend.jobs.children import Child, Children
from tests.loops import in_a_loop


class Dead(Children):
    """Children that have all been killed after they were looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.n_taken = 0

    def take(self) -> Child:
        """Take one that has just been killed."""
        self.n_taken += 1
        child = Child()
        child.kill()
        return child


@pytest.mark.parametrize(("is_wanted", "n_taken"), [(True, 2), (False, 1)])
def test_a_second_child_is_asked_only_for_what_is_wanted(is_wanted: bool, n_taken: int) -> None:
    children = Dead()

    with pytest.raises(Unavailable, match="did this job ended with signal SIGKILL"):
        in_a_loop(children.ask({}, doing="did this job", is_wanted=lambda: is_wanted))

    assert children.n_taken == n_taken


def test_whoever_leaves_while_the_order_is_sent_kills_the_child(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[Child] = []

    async def never(child: Child, message: object) -> None:
        taken.append(child)
        await asyncio.Event().wait()

    async def play() -> None:
        monkeypatch.setattr(Child, "send", never)
        asked = asyncio.create_task(Children().ask({}, doing="did this job"))
        while not taken:
            await asyncio.sleep(0.01)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

    in_a_loop(play())

    assert not taken[0].lives()
