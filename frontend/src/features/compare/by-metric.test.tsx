// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { createBrowserRouter, RouterProvider } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { methodsQuery } from "@/api/runs";
import type { Run, SeedGroups } from "@/api/types";

import { ByMetric, sharedNames } from "./by-metric";

// A library of charts asks for it as it is loaded.
vi.hoisted(() => vi.stubGlobal("matchMedia", () => new EventTarget()));

const summaries: Readonly<Record<string, readonly string[]>> = {
  a: ["loss", "eval/reward", "eval/reward_low", "eval/reward_high"],
  b: ["loss"],
  c: ["loss", "eval/reward", "eval/reward_low", "eval/reward_high", "lr"],
  d: [],
};
const runs = new Map(
  Object.entries(summaries).map(([id, names]) => {
    const summary = Object.fromEntries(names.map((name) => [name, {}]));
    return [id, { id, method: "sft", summary } as unknown as Run];
  }),
);
const answer = {
  groups: [{ runs: ["a", "b"] }, { runs: ["c"] }, { runs: ["d"] }],
} as unknown as SeedGroups;

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

async function open(search: string) {
  history.replaceState(null, "", `/projects/p/compare${search}`);
  const client = new QueryClient({
    defaultOptions: { queries: { retry: false, staleTime: Infinity } },
  });
  const metrics = [{ name: "eval/reward", title: "Held-out reward", has_interval: true }];
  client.setQueryData(methodsQuery.queryKey, { methods: [{ method: "sft", metrics }] } as never);
  const router = createBrowserRouter([
    { path: "/projects/:projectId/compare", element: <ByMetric answer={answer} runs={runs} /> },
  ]);
  await act(async () => {
    page.render(
      <QueryClientProvider client={client}>
        <RouterProvider router={router} useTransitions={false} />
      </QueryClientProvider>,
    );
    await Promise.resolve();
  });
}

const select = () => ground.querySelector("select");
const texts = () => [...(select()?.options ?? [])].map(({ text }) => text);

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => {
  act(() => page.unmount());
  vi.unstubAllGlobals();
});

it("knows the metrics that two groups have", () => {
  const names = ["eval/reward", "eval/reward_high", "eval/reward_low", "loss"];
  expect(sharedNames(answer, runs)).toEqual(names);
});

it("puts the chosen metric into the address, and offers no ends of intervals", async () => {
  await open("?runs=a,b,c,d");
  expect(texts()).toEqual(["what decides by default", "Held-out reward (eval/reward)", "loss"]);
  act(() => {
    const field = select();
    if (field === null) return;
    field.value = "loss";
    field.dispatchEvent(new Event("change", { bubbles: true }));
  });
  expect(new URLSearchParams(location.search).get("by")).toBe("loss");
  expect(select()?.value).toBe("loss");
});

it("shows the metric of the address, whoever has it", async () => {
  await open("?runs=a,b,c,d&by=lr");
  expect(select()?.value).toBe("lr");
});
