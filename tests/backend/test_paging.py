"""Pages are bounded by their rows and their bytes, and together they are the whole list."""

from collections.abc import Sequence

import pytest
from fastapi.testclient import TestClient
from hypothesis import given as sampled
from hypothesis import strategies as st

from backend.store import paging
from tests.backend.test_loop import upload

LONG = 100_000
N_LONG = 60


@sampled(st.lists(st.integers(0, 2 * paging.MOST_BYTES), max_size=100), st.integers(1, 60))
def test_parts_of_a_list_are_small_and_together_the_whole(sizes: list[int], limit: int) -> None:
    fetched: list[int] = []

    def fetch(last: int | None, at_most: int) -> Sequence[int]:
        first = parts[-1][-1] + 1 if last is None and parts else 0 if last is None else last + 1
        rows = range(len(sizes))[first : first + at_most]
        fetched.append(len(rows))
        return rows

    parts: list[list[int]] = []
    has_more = True
    while has_more:
        part, has_more = paging.filled(fetch, limit, lambda place: sizes[place])
        parts.append(part)
        assert len(part) <= limit
        assert sum(sizes[place] for place in part[1:]) <= paging.MOST_BYTES
    assert [place for part in parts for place in part] == list(range(len(sizes)))


def test_few_rows_are_fetched_before_it_is_known_how_long_they_are() -> None:
    asked: list[int] = []

    def fetch(last: int | None, at_most: int) -> Sequence[int]:
        asked.append(at_most)
        first = 0 if last is None else last + 1
        return range(first, first + at_most)

    found, has_more = paging.filled(fetch, 500, lambda _: paging.MOST_BYTES // 4)
    assert (len(found), has_more) == (5, True)
    assert sum(asked) <= 16
    asked.clear()
    found, has_more = paging.filled(fetch, 500, lambda _: 1)
    assert (len(found), has_more, sum(asked)) == (500, True, 501)


@pytest.mark.parametrize("oldest_first", [False, True])
@pytest.mark.parametrize("path", ["prompts", "responses"])
def test_a_page_of_long_records_ends_early(api: TestClient, path: str, oldest_first: bool) -> None:
    project = str(api.post("/projects", json={"name": "Long"}).json()["id"])
    lines = [
        {"prompt": f"{n} " + "p" * LONG, "responses": [f"{n} a" + "r" * LONG, f"{n} b"]}
        for n in range(N_LONG)
    ]
    upload(api, project, "comparisons", *lines)
    seen, cursor, pages = [], "", 0
    while cursor is not None:
        query = {"limit": 500, "oldest_first": oldest_first, "cursor": cursor}
        given = {name: value for name, value in query.items() if value != ""}
        answer = api.get(f"/projects/{project}/{path}", params=given)
        assert len(answer.content) < paging.MOST_BYTES + 3 * LONG
        assert answer.headers["content-type"] == "application/json"
        page = answer.json()
        seen += [one["id"] for one in page["items"]]
        cursor, pages = page["next_cursor"], pages + 1
    assert len(seen) == len(set(seen)) == N_LONG * (1 if path == "prompts" else 2)
    assert pages == 2
