// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { createMemoryRouter, RouterProvider } from "react-router";
import { afterEach, expect, it, vi } from "vitest";

import type { Experiment, Run } from "@/api/types";

import { ExperimentPage } from "./experiment-page";

const EXPERIMENT = {
  ...{ id: "exp_a", project_id: "project_a", name: "KL", question: "Does it help?", notes: "" },
  ...{ hypothesis: "", conclusion: "", archived_at: null, archived_run_count: 0, revision: 1 },
  ...{ run_count: 1, run_ids: ["run_a"], created_at: "2026-11-01T00:00:00Z", changed_at: null },
} as unknown as Experiment;

const run = (id: string, state: Run["state"]) =>
  ({
    ...{ id, state, project_id: "project_a", name: id, method: "sft", config: { seed: 1 } },
    ...{ state_sentence: "It waits.", summary: {}, is_retried: false, tags: [] },
  }) as unknown as Run;

/** What the service answers; of all else it fails. */
let answers: Record<string, unknown>;
let asked: string[];

function answer(input: string): Promise<Response> {
  const path = new URL(input, "http://podium.test").pathname.replace("/api/v1", "");
  asked.push(path);
  const body = answers[path];
  const headers = { "Content-Type": "application/json" };
  const status = body === undefined ? 500 : 200;
  return Promise.resolve(new Response(JSON.stringify(body ?? {}), { status, headers }));
}

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
/** How often each of these was asked for within so many milliseconds. */
async function askedWithin(ms: number, ...paths: string[]): Promise<number[]> {
  asked = [];
  await pass(ms);
  return paths.map((path) => asked.filter((one) => one === path).length);
}

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

async function show(...runs: Run[]): Promise<void> {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", answer);
  vi.useFakeTimers();
  answers = { "/experiments/exp_a": EXPERIMENT, "/runs": { items: runs } };
  asked = [];
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const router = createMemoryRouter(
    [{ path: "/experiments/:experimentId", element: <ExperimentPage /> }],
    { initialEntries: ["/experiments/exp_a"] },
  );
  page = createRoot(ground);
  await act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>,
    ),
  );
  await pass(100);
}

afterEach(async () => {
  await act(() => page.unmount());
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("asks for runs that wait for a worker, and for their answer, again and again", async () => {
  await show(run("run_a", "queued"));
  expect(ground.textContent).toContain("queued");

  expect(await askedWithin(20_500, "/runs", "/seed-groups")).toEqual([2, 2]);
});

it("sees that a paused run was resumed, and asks for the answer when a run has ended", async () => {
  await show(run("run_a", "paused"));
  expect(await askedWithin(29_000, "/runs", "/seed-groups")).toEqual([0, 0]);

  answers["/runs"] = { items: [run("run_a", "running")] };
  await pass(2_000);
  expect(ground.textContent).toContain("running");

  answers["/runs"] = { items: [run("run_a", "succeeded")] };
  expect(await askedWithin(10_500, "/runs", "/seed-groups")).toEqual([1, 2]);
  expect(await askedWithin(20_000, "/seed-groups")).toEqual([0]);
});

it("shows runs that somebody else starts for it", async () => {
  await show(run("run_a", "succeeded"));
  answers["/experiments/exp_a"] = { ...EXPERIMENT, run_count: 2, run_ids: ["run_b", "run_a"] };
  answers["/runs"] = { items: [run("run_a", "succeeded"), run("run_b", "queued")] };
  await pass(31_000);

  expect(ground.textContent).toContain("run_b");
});
