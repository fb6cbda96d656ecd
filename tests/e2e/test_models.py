"""The page of a model from which very many others were made."""

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import OpenPage
from tests.e2e.test_pages import barriers
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (390, "dark")])
def test_a_lineage_says_that_older_relatives_are_left_out(
    workshop: Workshop, open_page: OpenPage, axe: str, width: int, theme: str
) -> None:
    project = workshop.new_project(f"Large family {width}")
    base = workshop.base_model(project)
    workshop.descend(base, project, 600)

    page = open_page(f"/projects/{project}/models/{base}", width=width, theme=theme)

    note = page.get_by_text("The lineage shows 500 models;")
    expect(note).to_contain_text(
        "older ones of a generation are left out. Models lists those of this project."
    )
    expect(page.get_by_role("link", name="child 599", exact=True)).to_be_attached()
    expect(page.get_by_role("link", name="child 0", exact=True)).not_to_be_attached()
    assert barriers(page, axe) == []
    note.get_by_role("link", name="Models").click()
    page.wait_for_url(f"**/projects/{project}/models")
