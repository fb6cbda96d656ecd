// @vitest-environment window
import { QueryClient, QueryClientProvider, useQueries } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { metricsQuery, runsByIdQuery, verdictsQuery } from "@/api/runs";
import { groupCurvesQuery, seedGroupsQuery } from "@/api/seed-groups";
import { meQuery } from "@/api/session";
import { promptSamplesQuery, sharedPromptsQuery } from "@/api/shared-prompts";
import type { Follower, LiveEvent } from "@/api/stream/messages";
import type { Run, User } from "@/api/types";

import { useRefreshed } from "./use-refreshed";

const follow = vi.hoisted(() => new Map<string, Follower>());
vi.mock("@/api/stream/follow", () => ({
  followRun: (_: string, runId: string, follower: Follower) => {
    follow.set(runId, follower);
    // As of a run that another part of the page follows already.
    follower.onStatus("live");
    follower.onJoin();
    return () => follow.delete(runId);
  },
}));

const RUNS = ["a", "b"];
const QUESTIONS = {
  loss: metricsQuery(RUNS, { names: "loss" }),
  reward: metricsQuery(RUNS, { names: "eval/reward,eval/reward_low" }),
  means: groupCurvesQuery(RUNS, "loss", {}),
  answer: seedGroupsQuery(RUNS, null),
  prompts: sharedPromptsQuery(RUNS),
  responses: promptSamplesQuery(["b"], "prompt", null),
  verdicts: verdictsQuery(["a"]),
  others: metricsQuery(["c"], { names: "loss" }),
};

/** What was asked since somebody looked. */
const asked: string[] = [];
const since = () => asked.splice(0).sort();

const run = (id: string, state: string) => ({ id, state }) as unknown as Run;

function Page({ runs }: { runs: readonly Run[] }) {
  const refetchMs = useRefreshed(RUNS, runs);
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
  return <>{String(refetchMs)}</>;
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

/** The evaluations that ended, the newest first: there are some on nearly every service. */
let ended: readonly { id: string; finished_at: string }[];

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  ended = [{ id: "evaluation", finished_at: "2026-11-01T11:30:00Z" }];
  vi.stubGlobal("fetch", (url: string) => {
    const limit = Number(new URL(url, "http://podium").searchParams.get("limit"));
    return Promise.resolve(Response.json({ items: ended.slice(0, limit), next_cursor: null }));
  });
  vi.useFakeTimers();
  client.setQueryData(meQuery.queryKey, { id: "user_a" } as User);
  page = createRoot(element);
});

afterEach(() => {
  act(() => page.unmount());
  client.clear();
  asked.length = 0;
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const ALL = ["answer", "loss", "means", "prompts", "responses", "reward", "verdicts"];
const look = (isHidden: boolean) => {
  vi.spyOn(document, "hidden", "get").mockReturnValue(isHidden);
  vi.spyOn(document, "visibilityState", "get").mockReturnValue(isHidden ? "hidden" : "visible");
  document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
};

it("asks for nothing while nothing is told, and for what was told at most every ten seconds", async () => {
  await show(run("a", "running"), run("b", "succeeded"));
  expect(since()).toEqual([...ALL, "others", "runs"].sort());
  await wait(30);
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

it("asks once more for what was answered before a run was followed", async () => {
  await show();
  await wait(5);
  since();
  await show(run("a", "running"), run("b", "succeeded"));
  await wait(4);
  expect(since()).toEqual([]);
  await wait(2);
  expect(since()).toEqual(ALL);
  await show(run("a", "succeeded"), run("b", "succeeded"));
  await wait(30);
  expect(since()).toEqual([]);
});

it("asks for nothing while nobody looks, and for what was told since when somebody does", async () => {
  await show(run("a", "running"), run("b", "succeeded"));
  await wait(90);
  since();
  look(true);
  measure("a", "loss");
  tell("a", "state");
  await wait(60);
  expect(since()).toEqual([]);
  look(false);
  await wait(0.3);
  expect(since()).toEqual([...ALL, "runs"].sort());
  await wait(60);
  expect(since()).toEqual([]);
});

it("does not ask twice what was asked for since it was told", async () => {
  await show(run("a", "running"), run("b", "succeeded"));
  await wait(90);
  since();
  look(true);
  measure("a", "loss");
  await wait(60);
  void client.refetchQueries({ queryKey: QUESTIONS.loss.queryKey });
  look(false);
  await wait(30);
  expect(since()).toEqual(["loss", "means"]);
});

it("asks for all curves anew after a gap, and when a run goes back", async () => {
  await show(run("a", "running"), run("b", "queued"));
  await wait(90);
  since();
  for (const happened of [() => tell("b", "rewind"), () => follow.get("a")?.onJoin()]) {
    happened();
    await wait(10);
    expect(since()).toEqual(ALL);
  }
});

it("asks once for each when two runs end within a second", async () => {
  await show(run("a", "running"), run("b", "running"));
  await wait(90);
  since();
  tell("a", "state");
  tell("b", "state");
  await wait(0.1);
  expect(since()).toEqual([]);
  await wait(0.2);
  expect(since()).toEqual([...ALL, "runs"].sort());
  await show(run("a", "succeeded"), run("b", "succeeded"));
  await wait(60);
  expect([since(), interval()]).toEqual([[], "false"]);

  tell("a", "state");
  await wait(0.3);
  tell("b", "state");
  await wait(0.3);
  expect(since()).toEqual([...ALL, "runs", "runs"].sort());
  await wait(10);
  // The second run's end is in none of these answers.
  expect(since()).toEqual(ALL);
});

it("asks for what is attached to runs that are over", async () => {
  await show(run("a", "succeeded"), run("b", "succeeded"));
  await wait(90);
  since();
  measure("b", "gold/reward");
  await wait(0.3);
  expect(since()).toEqual(["answer", "runs", "verdicts"]);
  measure("b", "eval/reward");
  await wait(10);
  expect(since()).not.toContain("verdicts");
});

it("asks for the responses to a prompt when samples were logged", async () => {
  await show(run("a", "running"), run("b", "succeeded"));
  await wait(90);
  since();
  tell("a", "sample", { step: 8, count: 4 });
  await wait(9);
  tell("a", "sample", { step: 9, count: 4 });
  await wait(10);
  expect(since()).toEqual(["prompts", "prompts", "responses", "responses"]);
  await wait(30);
  expect(since()).toEqual([]);
});

it("asks every ten seconds while there is no stream of a run at work", async () => {
  await show(run("a", "running"), run("b", "succeeded"));
  act(() => follow.get("b")?.onStatus("waiting"));
  expect(interval()).toBe("false");
  act(() => follow.get("a")?.onStatus("waiting"));
  expect(interval()).toBe("10000");
  act(() => follow.get("a")?.onStatus("live"));
  expect(interval()).toBe("false");
});

it("asks for the answer when an evaluation of another run has ended, and for no curve", async () => {
  await show(run("a", "succeeded"), run("b", "succeeded"));
  since();
  // It may have ended while the page was opened.
  await wait(61);
  expect(since()).toEqual(["answer"]);
  await wait(180);
  expect(since()).toEqual([]);
  ended = [{ id: "another", finished_at: "2026-11-01T12:00:00Z" }, ...ended];
  await wait(61);
  expect(since()).toEqual(["answer"]);
  await wait(180);
  expect(since()).toEqual([]);
  ended = [{ id: "another", finished_at: "2026-11-01T12:30:00Z" }, ...ended.slice(1)];
  await wait(61);
  expect(since()).toEqual(["answer"]);
  // By the clock of its worker it ended earlier than the last one.
  ended = [...ended, { id: "third", finished_at: "2026-11-01T12:29:00Z" }];
  await wait(61);
  expect(since()).toEqual(["answer"]);
});
