// @vitest-environment window
import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { act, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type * as Runs from "@/api/runs";
import { meQuery } from "@/api/session";
import type { Follower, LiveEvent } from "@/api/stream/messages";
import type { Run, User } from "@/api/types";

import { useLiveRows } from "./use-live-rows";

const follow = vi.hoisted(() => new Map<string, Follower>());
vi.mock("@/api/stream/follow", () => ({
  followRun: (_: string, runId: string, follower: Follower) => {
    follow.set(runId, follower);
    return () => follow.delete(runId);
  },
}));

const asked: string[][] = [];
/** What the server knows of a run by now; else it was queued. */
const known = new Map<string, () => Promise<Run>>();
vi.mock("@/api/runs", async (original) => {
  const real = await original<typeof Runs>();
  const runsOf = (ids: readonly string[]) => {
    asked.push([...ids]);
    return Promise.all(ids.map((id) => known.get(id)?.() ?? run(id, "queued")));
  };
  return {
    ...real,
    runsByIdQuery: (ids: readonly string[], columns: string) => ({
      ...real.runsByIdQuery(ids, columns),
      queryFn: () => runsOf(ids),
    }),
  };
});

const run = (id: string, state: string, step?: number) =>
  ({ id, state, progress: { step }, summary: {} }) as unknown as Run;

function List({ runs }: { runs: readonly Run[] }) {
  const rows = useLiveRows(runs, "");
  return <>{rows.map(({ run: { id, state, progress } }) => `${id} ${state} ${progress.step}`)}</>;
}

/** The list as a page holds it. */
function Listed() {
  const pages = useQuery(PAGES).data;
  return <List runs={pages?.pages.flatMap(({ items }) => items) ?? []} />;
}

const PAGES = {
  queryKey: ["runs", "pages", {}],
  queryFn: () => ({ pages: [{ items: [] as Run[] }], pageParams: [] }),
  staleTime: Infinity,
};
const client = new QueryClient();
const element = document.createElement("div");
const root = () => createRoot(element);
let page: ReturnType<typeof root>;

const show = (...runs: Run[]) =>
  act(() => {
    client.setQueryData(PAGES.queryKey, { pages: [{ items: runs }], pageParams: [] });
    page.render(
      <StrictMode>
        <QueryClientProvider client={client}>
          <Listed />
        </QueryClientProvider>
      </StrictMode>,
    );
  });
const shown = () => element.textContent;

const event = (runId: string, type: string, data = {}) =>
  ({ run: runId, seq: 1, type, data, at: "" }) as unknown as LiveEvent;
const tell = (...args: Parameters<typeof event>) => follow.get(args[0])?.onEvent(event(...args));
const draw = () => act(() => vi.advanceTimersByTimeAsync(300));

function answerLater() {
  let resolve: (run: Run) => void = () => undefined;
  const promise = new Promise<Run>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.useFakeTimers();
  client.setQueryData(meQuery.queryKey, { id: "user_a" } as User);
  page = root();
  asked.length = 0;
  known.clear();
});

afterEach(() => {
  act(() => page.unmount());
  client.clear();
  vi.useRealTimers();
});

it("asks for a run that was queued again just before the list changed", async () => {
  await show(run("a", "succeeded"));
  tell("a", "state");
  await show(run("a", "succeeded"), run("b", "succeeded"));
  await draw();
  expect(asked).toEqual([["a"]]);
});

it("forgets what a run has told that leaves the list", async () => {
  await show(run("a", "running", 0));
  tell("a", "progress", { step: 300 });
  await draw();
  expect(shown()).toBe("a running 300");

  await show();
  await show(run("a", "succeeded", 1000));

  expect(shown()).toBe("a succeeded 1000");
});

it("shows a run as it is now once the stream had a gap", async () => {
  const answered = answerLater();
  await show(run("a", "running", 0), run("b", "succeeded", 9));
  for (const id of ["a", "b"]) follow.get(id)?.onJoin();
  await draw();
  expect(asked).toEqual([["a"]]);
  await show(run("a", "running", 0), run("b", "succeeded", 9));
  tell("a", "progress", { step: 300 });
  await draw();
  expect(shown()).toBe("a running 300b succeeded 9");

  known.set("a", () => answered.promise);
  known.set("b", () => Promise.resolve(run("b", "queued", 0)));
  for (const id of ["a", "b"]) follow.get(id)?.onJoin();
  await draw();
  expect(asked.at(-1)).toEqual(["a", "b"]);
  expect(shown()).toBe("a running 300b succeeded 9");
  answered.resolve(run("a", "succeeded", 1000));
  await draw();

  expect(shown()).toBe("a succeeded 1000b queued 0");
});

it("keeps what was told while a run was asked for", async () => {
  const answered = answerLater();
  known.set("a", () => answered.promise);
  await show(run("a", "running", 0));
  tell("a", "state");
  await draw();
  tell("a", "progress", { step: 301 });
  await draw();

  answered.resolve(run("a", "running", 300));
  await draw();

  expect(shown()).toBe("a running 301");
});

it("asks again for what changes while it is asked for", async () => {
  const [first, second] = [answerLater(), answerLater()];
  const answers = [first.promise, second.promise];
  known.set("a", () => answers.shift() ?? Promise.reject(new Error("asked too often")));
  await show(run("a", "running", 0));
  tell("a", "state");
  await draw();
  tell("a", "state");
  await draw();

  second.resolve(run("a", "succeeded", 1000));
  first.resolve(run("a", "stopping", 999));
  await draw();

  expect(shown()).toBe("a succeeded 1000");
});
