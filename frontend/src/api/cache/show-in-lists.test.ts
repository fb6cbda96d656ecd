import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Run } from "../types";
import { showInLists } from "./show-in-lists";

const run = (id: string, name: string, tags: string[] = []) =>
  ({
    id,
    name,
    tags,
    notes: null,
    state: "running",
    values: { "config.kl.coef": 1 },
  }) as unknown as Run;
const pagesOf = (...pages: Run[][]) => ({
  pages: pages.map((items) => ({ items, next_cursor: null })),
  pageParams: pages.map(() => ""),
});
const RENAMED = { ...run("run_2", "renamed", ["new"]), state: "queued", values: {} } as Run;

let client: QueryClient;
let asked: string[];
let leave: (() => void)[];

/** A list on screen whose answer is known. */
function look(queryKey: unknown[], data: unknown): void {
  client.setQueryData(queryKey, data, { updatedAt: 1 });
  const page = new QueryObserver(client, {
    queryKey,
    staleTime: Infinity,
    queryFn: () => {
      asked.push(JSON.stringify(queryKey));
      return Promise.resolve(data);
    },
  });
  leave.push(page.subscribe(() => undefined));
}
const table = (filter: string, sort = "") => [
  "runs",
  "pages",
  { project_id: "prj_1", filter, sort },
];

beforeEach(() => {
  [client, asked, leave] = [new QueryClient(), [], []];
});
afterEach(() => {
  for (const one of leave) one();
  client.clear();
});

describe("a run that somebody has changed", () => {
  it("is changed in its row, and no page is asked for", async () => {
    const [first, third] = [run("run_1", "first"), run("run_3", "third")];
    look(table(""), pagesOf([first, run("run_2", "second")], [third]));
    look(["runs", { project_id: "prj_1" }], { items: [run("run_2", "second")] });
    look(["runs", "by id", ["run_2"], ""], [run("run_2", "second")]);

    await showInLists(client, RENAMED, ["name", "tags"]);

    expect(asked).toEqual([]);
    const row = run("run_2", "renamed", ["new"]);
    expect(client.getQueryData(table(""))).toEqual(pagesOf([first, row], [third]));
    expect(client.getQueryData(["runs", { project_id: "prj_1" }])).toEqual({ items: [row] });
    expect(client.getQueryData(["runs", "by id", ["run_2"], ""])).toEqual([row]);
    expect(client.getQueryState(table(""))?.dataUpdatedAt).toBe(1);
  });

  it.each([
    ["", "-name", ["name"], true],
    ["", "-name", ["tags"], false],
    ["", "-created", ["name", "tags", "notes"], false],
    ["sweep", "", ["name"], true],
    ['"kl sweep"', "", ["name"], true],
    ["-tag:baseline", "", ["tags"], true],
    ["(state:failed OR tag~base)", "", ["tags"], true],
    ["-tag:baseline", "", ["name", "notes"], false],
    ['state:failed AND experiment:"a tag:b" config.kl.coef>=0.1', "", ["name", "tags"], false],
    ["name~x best.eval/reward>1", "", ["notes"], false],
    ['state:"failed"tag:base', "", ["tags"], true],
    ['state:failed"kl sweep"', "", ["name"], true],
    ['experiment:"a","b",tag:c -"kl sweep"', "", ["tags"], true],
    ['experiment:"a","b",tag:c -method:"x"', "", ["name", "tags"], false],
  ] as const)(
    "filter %j, sort %j, changed %j: asked for anew %j",
    async (filter, sort, changed, isAsked) => {
      look(table(filter, sort), pagesOf([run("run_2", "second")]));
      await showInLists(client, RENAMED, changed);
      expect(asked).toHaveLength(isAsked ? 1 : 0);
    },
  );

  it("is asked for where an answer from before the change is on its way", async () => {
    const answers: ((data: unknown) => void)[] = [];
    client.setQueryData(table(""), pagesOf([run("run_2", "second")]));
    const page = new QueryObserver(client, {
      queryKey: table(""),
      staleTime: Infinity,
      queryFn: () => new Promise((resolve) => answers.push(resolve)),
    });
    leave.push(page.subscribe(() => undefined));
    void page.refetch();
    const shown = showInLists(client, RENAMED, ["name"]);
    await vi.waitFor(() => expect(answers).toHaveLength(2), { timeout: 20_000 });
    answers[0]?.(pagesOf([run("run_2", "second")]));
    await Promise.resolve();
    expect(page.getCurrentResult().data).toEqual(pagesOf([run("run_2", "renamed", ["new"])]));
    answers[1]?.(pagesOf([run("run_2", "renamed", ["new"])]));
    await shown;
  });

  it("is asked for where the last answer did not come, or is known to be old", async () => {
    look(table("tag:a"), pagesOf([run("run_2", "second")]));
    look(table("tag:b"), pagesOf([run("run_2", "second")]));
    look(table("tag:c"), pagesOf([run("run_2", "second")]));
    client
      .getQueryCache()
      .find({ queryKey: table("tag:a") })
      ?.setState({ error: new Error() });
    await client.invalidateQueries({ queryKey: table("tag:b"), refetchType: "none" });

    await showInLists(client, RENAMED, ["notes"]);
    expect(asked).toEqual([table("tag:a"), table("tag:b")].map((key) => JSON.stringify(key)));
  });

  it("is asked for with the lists that nobody looks at as soon as somebody does", async () => {
    client.setQueryData(table("tag:new"), pagesOf([]));
    await showInLists(client, RENAMED, ["tags"]);
    expect(client.getQueryState(table("tag:new"))?.isInvalidated).toBe(true);
  });
});
