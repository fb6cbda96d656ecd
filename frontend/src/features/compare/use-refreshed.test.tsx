// @vitest-environment jsdom
import { QueryClient, QueryClientProvider, useQueries } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { metricsQuery, runsByIdQuery } from "@/api/runs";
import { groupCurvesQuery, seedGroupsQuery } from "@/api/seed-groups";
import { meQuery } from "@/api/session";
import type { Follower, LiveEvent } from "@/api/stream/messages";
import type { Run, User } from "@/api/types";

import { useRefreshed } from "./use-refreshed";

const follow = vi.hoisted(() => new Map<string, Follower>());
vi.mock("@/api/stream/follow", () => ({
  followRun: (_: string, runId: string, follower: Follower) => {
    follow.set(runId, follower);
    return () => follow.delete(runId);
  },
}));

const RUNS = ["a", "b"];
const QUESTIONS = {
  loss: metricsQuery(RUNS, { names: "loss" }),
  reward: metricsQuery(RUNS, { names: "eval/reward,eval/reward_low" }),
  means: groupCurvesQuery(RUNS, "loss", {}),
  answer: seedGroupsQuery(RUNS, null),
  others: metricsQuery(["c"], { names: "loss" }),
};

/** What was asked since somebody looked. */
const asked: string[] = [];
const since = () => asked.splice(0).sort();

const run = (id: string, state: string) => ({ id, state }) as unknown as Run;

function Page({ runs }: { runs: readonly Run[] }) {
  const shown = useRefreshed(RUNS, runs);
  useQueries({
    queries: [
      ...Object.entries(QUESTIONS).map(([name, { queryKey }]) => ({
        queryKey: queryKey as readonly unknown[],
        queryFn: () => asked.push(name),
        staleTime: Infinity,
      })),
      {
        queryKey: runsByIdQuery(RUNS).queryKey as readonly unknown[],
        queryFn: () => asked.push("runs"),
        staleTime: Infinity,
      },
    ],
  });
  return <>{String(shown)}</>;
}

const client = new QueryClient();
const element = document.createElement("div");
let page: ReturnType<typeof createRoot>;
const interval = () => element.textContent;

const show = (...runs: Run[]) =>
  act(async () => {
    page.render(
      <QueryClientProvider client={client}>
        <Page runs={runs} />
      </QueryClientProvider>,
    );
    await vi.advanceTimersByTimeAsync(1);
  });
const wait = (seconds: number) => act(() => vi.advanceTimersByTimeAsync(1000 * seconds));
const tell = (id: string, type: string, data = {}) =>
  follow.get(id)?.onEvent({ run: id, seq: 1, type, data, at: "" } as unknown as LiveEvent);
const measure = (id: string, ...names: string[]) =>
  tell(id, "metric", {
    points: [{ step: 1, values: Object.fromEntries(names.map((name) => [name, 1])) }],
  });

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.useFakeTimers();
  client.setQueryData(meQuery.queryKey, { id: "user_a" } as User);
  page = createRoot(element);
});

afterEach(() => {
  act(() => page.unmount());
  client.clear();
  asked.length = 0;
  vi.useRealTimers();
});

it("asks for nothing while nothing is told, and for what was told at most every ten seconds", async () => {
  await show(run("a", "running"), run("b", "succeeded"));
  since();
  await wait(300);
  expect([since(), interval()]).toEqual([[], "false"]);

  measure("a", "loss", "entropy");
  measure("a", "loss");
  await wait(0.3);
  expect(since()).toEqual(["loss", "means"]);
  measure("a", "loss");
  measure("a", "eval/reward");
  await wait(9);
  expect(since()).toEqual([]);
  await wait(1);
  // An evaluation may change what decides.
  expect(since()).toEqual(["answer", "loss", "means", "reward"]);
});

it("asks for nothing while nobody looks, and for what was told since when somebody does", async () => {
  await show(run("a", "running"), run("b", "succeeded"));
  await wait(60);
  since();
  const hidden = vi.spyOn(document, "hidden", "get").mockReturnValue(true);
  measure("a", "loss");
  await wait(60);
  expect(since()).toEqual([]);
  hidden.mockRestore();
  document.dispatchEvent(new Event("visibilitychange"));
  await wait(0.3);
  expect(since()).toEqual(["loss", "means"]);
});

it("asks for all curves anew after a gap, and when a run goes back", async () => {
  await show(run("a", "running"), run("b", "queued"));
  await wait(60);
  since();
  for (const happened of [() => tell("b", "rewind"), () => follow.get("a")?.onJoin()]) {
    happened();
    await wait(10);
    expect(since()).toEqual(["answer", "loss", "means", "reward"]);
  }
});

it("asks for the runs at once when one begins or ends, and for all when it has", async () => {
  await show(run("a", "running"), run("b", "succeeded"));
  await wait(60);
  since();
  tell("a", "state");
  await wait(0.1);
  expect(since()).toEqual(["runs"]);
  await show(run("a", "succeeded"), run("b", "succeeded"));
  expect(since()).toEqual(["answer", "loss", "means", "reward"]);
  // Of runs that are over nothing more is told.
  expect(follow.size).toBe(0);
});

it("asks every ten seconds while there is no stream", async () => {
  await show(run("a", "running"), run("b", "queued"));
  act(() => follow.get("a")?.onStatus("waiting"));
  expect(interval()).toBe("10000");
  act(() => follow.get("a")?.onStatus("live"));
  expect(interval()).toBe("false");
});
