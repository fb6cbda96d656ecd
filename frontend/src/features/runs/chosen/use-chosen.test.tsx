// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, useEffect } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { meQuery } from "@/api/session";
import type { Run, User } from "@/api/types";

import { toggled } from "@/features/runs/table/selection";
import { useChosen } from "./use-chosen";

/** What each run does; the others have ended. */
const states = new Map<string, Run["state"]>();
const run = (id: string) =>
  ({ id, name: `run ${id}`, state: states.get(id) ?? "succeeded" }) as unknown as Run;
const shown: { now?: ReturnType<typeof useChosen> } = {};
const asked: string[] = [];
/** How many of the chosen runs were not known, each time that they were shown. */
const waited: (number | undefined)[] = [];

function Page({ listed }: { listed: readonly string[] | null }) {
  const now = useChosen("p", listed?.map(run) ?? null);
  useEffect(() => {
    Object.assign(shown, { now });
    waited.push(now.chosen.waiting);
  });
  return null;
}

let page: ReturnType<typeof createRoot>;
let client: QueryClient;

const show = (listed: readonly string[] | null) =>
  act(async () => {
    page.render(
      <QueryClientProvider client={client}>
        <Page listed={listed} />
      </QueryClientProvider>,
    );
    await Promise.resolve();
  });
const choose = (id: string) => act(() => shown.now?.setSelection((now) => toggled(now, id)));
const chosen = () => shown.now?.chosen;
const wait = (seconds: number) => act(() => vi.advanceTimersByTimeAsync(1000 * seconds));
const idsOf = (runs: readonly Run[] | undefined) => runs?.map(({ id }) => id);

function open(userId: string): void {
  client = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Infinity } } });
  client.setQueryData(meQuery.queryKey, { id: userId } as User);
  page = createRoot(document.createElement("div"));
}

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", (url: string) => {
    const ids = new URL(url, "http://podium").searchParams.get("runs") ?? "";
    asked.push(ids);
    return Promise.resolve(Response.json({ items: ids.split(",").map(run), next_cursor: null }));
  });
  asked.length = 0;
  states.clear();
  sessionStorage.clear();
  open("ada");
});
afterEach(() => {
  act(() => page.unmount());
  sessionStorage.clear();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("keeps the chosen runs that a filter does not list, and says which these are", async () => {
  await show(["a", "b"]);
  choose("a");
  choose("b");
  expect([idsOf(chosen()?.runs), asked]).toEqual([["a", "b"], []]);

  await show(["b", "c"]);
  await act(() => vi.waitFor(() => expect(chosen()?.waiting).toBe(0)));
  expect(idsOf(chosen()?.runs)).toEqual(["b", "a"]);
  expect(idsOf(chosen()?.unlisted)).toEqual(["a"]);
  expect(asked).toEqual(["a"]);
});

it("has them when its person comes back, and asks for none before it knows the list", async () => {
  await show(["a", "b"]);
  choose("b");
  act(() => page.unmount());
  open("ada");
  await show(null);
  expect([chosen()?.runs, asked]).toEqual([[], []]);
  await show(["a", "b"]);
  expect([idsOf(chosen()?.runs), asked]).toEqual([["b"], []]);

  choose("b");
  act(() => page.unmount());
  open("ada");
  await show(["a", "b"]);
  expect(chosen()?.runs).toEqual([]);
});

it("knows nothing of what somebody else has chosen", async () => {
  await show(["a"]);
  choose("a");
  act(() => page.unmount());
  open("grace");
  await show(["a"]);
  expect(chosen()?.runs).toEqual([]);
});

it("asks again for a run that is not listed until it has ended", async () => {
  vi.useFakeTimers();
  states.set("a", "running");
  await show(["a", "b"]);
  choose("a");
  await show(["b"]);
  await wait(1);
  expect(asked).toEqual(["a"]);
  states.set("a", "succeeded");
  await wait(10);
  expect([chosen()?.runs, asked]).toEqual([[run("a")], ["a", "a"]]);
  await wait(60);
  expect(asked).toHaveLength(2);
});

it("keeps what it knows of a run that leaves the list while it asks for it", async () => {
  vi.useFakeTimers();
  await show(["a", "b", "c"]);
  for (const id of ["a", "b", "c"]) choose(id);
  waited.length = 0;
  await show(["b", "c"]);
  expect(idsOf(chosen()?.runs)).toEqual(["b", "c", "a"]);
  await show(["c"]);
  expect(idsOf(chosen()?.runs)).toEqual(["c", "a", "b"]);
  await wait(1);
  expect(idsOf(chosen()?.unlisted)).toEqual(["a", "b"]);
  expect([asked, new Set(waited)]).toEqual([["a", "a,b"], new Set([0])]);
});

it("says how many of the chosen runs it does not know yet", async () => {
  vi.useFakeTimers();
  await show(["a", "b"]);
  for (const id of ["a", "b"]) choose(id);
  act(() => page.unmount());
  open("ada");
  vi.stubGlobal("fetch", () => new Promise(() => undefined));
  await show(["a"]);
  expect([idsOf(chosen()?.runs), chosen()?.waiting]).toEqual([["a"], 1]);
  await show([]);
  expect([idsOf(chosen()?.runs), chosen()?.waiting]).toEqual([["a"], 1]);
});
