"""Text that would like to be a script stands in every field, and on no page does any of it run."""

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from backend import auth
from backend.schemas.run_directory.events import MetricLine, PromptScoresLine
from backend.settings import Settings
from backend.store.db import Database
from backend.store.metrics import points, prompt_scores
from backend.store.runs import events
from backend.store.runs.events import NewEvent
from tests.backend.test_access import Site, ranked_as
from tests.backend.test_access import plant as furnish
from tests.backend.test_assignments import ranked, take
from tests.backend.test_blindness import fill, plant
from tests.backend.test_loop import upload
from tests.e2e.windows import open_window
from tests.served import Server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

FRONTEND = Path(__file__).parents[2] / "frontend" / "src"
APP = FRONTEND / "app" / "app.tsx"
TABBED = {"data": "data/data-page", "run": "run/run-page", "settings": "settings/settings-page"}
SPELLS = (
    "<script>ran()</script>",
    "<img src=x onerror=ran()>",
    '"><svg onload=ran()>',
    "[go](javascript:ran())",
    '![x](x" onerror="ran())',
    "javascript:ran()",
    "$\\href{javascript:ran()}{x}$",
    "$\\htmlData{onclick=ran()}{x}$ $\\includegraphics{http://x.test/x.png}$",
    "<math><mtext><style><img src=x onerror=ran()></style></mtext></math>",
    "<iframe srcdoc='<script>ran()</script>'></iframe>",
    "<a href='data:text/html,<script>ran()</script>'>x</a>",
    "</title><style>@import 'http://x.test/x.css'</style>",
    "{{constructor.constructor('ran()')()}}${ran()}",
)
# Set before any script of a page: what ran, and what the content security policy has stopped.
WATCH = """
window.seen = [];
window.ran = () => window.seen.push("a script ran");
for (const name of ["alert", "confirm", "prompt"]) window[name] = window.ran;
document.addEventListener("securitypolicyviolation", (event) =>
  window.seen.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""
# Elements that only planted text can have brought, and links that would run something.
FOREIGN = """() => [
  ...document.querySelectorAll("iframe, object, embed, [onerror], [onload], [onclick], " +
    "img[src='x'], script:not([src]), base"),
  ...[...document.querySelectorAll("a[href]")].filter(
    (link) => !["http:", "https:", "mailto:", "blob:"].includes(link.protocol)),
].map((one) => one.outerHTML)"""


def spell(number: int) -> str:
    """One of the texts, with its number."""
    return f"{SPELLS[number % len(SPELLS)]} {number}"


@pytest.fixture
def site(sqlite_url: str, tmp_path: Path) -> Iterator[Site]:
    """A served store in which every text is planted, and its administrator."""
    folder = tmp_path / "data"
    with closing(Server(sqlite_url, folder)) as server:
        settings = Settings(data_dir=folder, database_url=sqlite_url, public_url=server.url)
        site = Site(server.client, Database(sqlite_url), settings, "")
        prepare(site)
        yield site
        site.database.close()


def prepare(site: Site) -> None:
    """A project with something on every page, and what is free text in it planted."""
    admin = site.admin
    furnish(site, "planted")
    rows = [{"prompt": spell(n), "responses": [spell(n + k) for k in range(4)]} for n in range(9)]
    upload(admin, site.project, "comparisons", *rows)
    upload(admin, site.project, "demonstrations", {"prompt": spell(1), "completion": spell(2)})
    steps = [{"content": spell(n), "label": 1} for n in range(len(SPELLS))]
    upload(admin, site.project, "solutions", {"prompt": spell(3), "steps": steps})
    for name, make in {
        "experiment_id": site.experiment,
        "model_id": site.model,
        "run_id": site.sampled_run,
        "snapshot_id": site.snapshot,
        "view_id": site.view,
        "other": site.member,
    }.items():
        site.once(name, make)
    site.invitation()
    site.kept["job_id"] = site.job(site.kept["other"])
    path = f"/experiments/{site.kept['experiment_id']}/runs"
    admin.post(path, json={"run_ids": [site.kept["run_id"]]}).raise_for_status()
    version = site.guidelines()
    admin.post(f"/projects/{site.project}/guidelines/acknowledgement", json=version)
    for _ in range(2):
        lease = take(admin, site.project)
        more = {"comment": "c", "reasons": ["r"]}
        admin.post(f"/assignments/{lease['id']}/judgment", json=ranked(lease, **more))
    known, order = site.practice()
    answer = ranked_as(order)
    admin.post(f"/projects/{site.project}/practice/{known}/answer", json=answer)
    site.end_practice()
    site.once("policy_run_id", lambda: policy_run(site))
    for name in ("run_id", "policy_run_id"):
        tell(site, site.kept[name])
    fill(site, site.kept["run_id"], datetime.now(UTC))
    with site.database.write() as session:
        planted = plant(session, spell)
    assert len(planted.texts) > 100


def policy_run(site: Site) -> str:
    """A run that has the tabs of policies."""
    config = {
        "method": "policy_gradient",
        "model": {"id": site.kept["model_id"]},
        "prompts": {"id": site.kept["snapshot_id"]},
        "reward": {"terms": [{"kind": "length"}]},
    }
    return site.of("/runs", project_id=site.project, name="p", config=config)


def tell(site: Site, run_id: str) -> None:
    """What only workers write of every run: curves, alerts, what a prompt scored."""
    at = datetime.now(UTC)
    lines = [
        MetricLine(
            step=step, time=step, values={"loss": 1, "reward/mean": 0.5, "kl/response": step}
        )
        for step in range(3)
    ]
    alerts = [
        NewEvent("alert", {"level": "error", "rule": spell(n), "message": spell(n), "step": 1})
        for n in range(len(SPELLS))
    ]
    scores = PromptScoresLine(
        step=1, prompt_ids=[site.comparison_body()["prompt_id"]],
        responses=[2], scored=[2], score=[0.5], passed=[1],
    )  # fmt: skip
    with site.database.write() as session:
        points.append(session, run_id, 1, lines, at=at)
        events.append(session, run_id, alerts, at=at)
        prompt_scores.append(session, run_id, [scores])


def tabs(page: str) -> list[str]:
    """The tabs of a page by their names in addresses."""
    source = (FRONTEND / "features" / f"{TABBED[page]}.tsx").read_text()
    (table,) = re.findall(r"^const TABS = \[\n(.*?)^\] as const;", source, re.DOTALL | re.MULTILINE)
    names = re.findall(r'^  \["([^"]+)"', table, re.MULTILINE)
    assert len(names) == table.count("\n")
    return names


def pages(site: Site) -> dict[str, list[str]]:
    """For every route of the application the addresses that are opened."""
    base, kept = f"/projects/{site.project}", site.kept
    run, policy, hostile = (
        kept["run_id"],
        kept["policy_run_id"],
        "%3Cimg%20src%3Dx%20onerror%3Dran()%3E",
    )
    return {
        "now": [f"{base}/now"],
        "rank": [f"{base}/rank"],
        "rank/:assignmentId": [f"{base}/rank/{hostile}"],
        "mine": [f"{base}/mine", f"{base}/mine?q={hostile}"],
        "data/:tab?": [f"{base}/data", *(f"{base}/data/{tab}" for tab in tabs("data"))],
        "runs": [f"{base}/runs", f"{base}/runs?filter={hostile}&tag={hostile}&sort={hostile}"],
        "compare": [f"{base}/compare?runs={run}", f"{base}/compare?runs={hostile}"],
        "runs/new": [f"{base}/runs/new?from={run}", f"{base}/runs/new?method={hostile}"],
        "runs/:runId/frontier": [f"{base}/runs/{policy}/frontier"],
        "runs/:runId/:tab?": [
            f"{base}/runs/{run}",
            *(f"{base}/runs/{one}/{tab}" for one in (run, policy) for tab in tabs("run")),
            f"{base}/runs/{hostile}",
        ],
        "experiments": [f"{base}/experiments"],
        "experiments/:experimentId": [f"{base}/experiments/{kept['experiment_id']}"],
        "models": [f"{base}/models"],
        "models/:modelId": [f"{base}/models/{kept['model_id']}", f"/models/{hostile}"],
        "workers": [f"{base}/workers"],
        "guidelines": [f"{base}/guidelines"],
        "settings/:tab?": [
            f"{base}/settings",
            *(f"{base}/settings/{tab}" for tab in tabs("settings")),
        ],
        "account": ["/account"],
        "runs/:runId": [f"/runs/{run}"],
        "/invitation": [f"/invitation#token={hostile}"],
        "projects/:projectId": [f"/projects/{hostile}/now"],
        "*": [f"{base}/{hostile}", f"/{hostile}"],
        "/": ["/"],
        "/sign-in": [f"/sign-in?next=javascript:ran()#token={hostile}"],
    }


def signed_in(browser: Browser, site: Site) -> BrowserContext:
    """A window of the administrator that watches from its first script on."""
    url = str(site.settings.public_url)
    with site.database.write() as session:
        link = auth.new_sign_in_link(session, url, at=datetime.now(UTC))
    context = open_window(browser, base_url=url)
    context.add_init_script(WATCH)
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name="Sign out").wait_for()
    page.close()
    return context


def test_no_planted_script_runs_on_any_page_and_the_policy_has_nothing_to_stop(
    site: Site, browser: Browser
) -> None:
    context = signed_in(browser, site)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(f"{page.url}: {message.text}"))
    broken: list[str] = []
    page.on("pageerror", lambda error: broken.append(f"{page.url}: {error}"))
    opened = pages(site)
    assert set(re.findall(r'path: "([^"]+)"', APP.read_text())) == set(opened)

    found, shown = {}, ""
    for path in (path for paths in opened.values() for path in paths):
        page.goto(path)
        open_all(page)
        shown += page.locator("body").inner_text()
        if wrong := page.evaluate("window.seen") + page.evaluate(FOREIGN):
            found[path] = wrong
    context.close()

    assert found == {}
    assert broken == []
    policy = re.compile("content security policy|refused to", re.IGNORECASE)
    assert [text for text in said if policy.search(text)] == []
    # Else nothing was looked at.
    assert shown.count("ran()") > 100


def open_all(page: Page) -> None:
    """Wait until the page has loaded what it shows, or says why not, and show what is folded."""
    expect(page.locator("h1, [role=alert]").first).to_be_visible()
    expect(page.locator(".skeleton")).to_have_count(0)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
