// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { createMemoryRouter, RouterProvider } from "react-router";
import { expect, test, vi } from "vitest";

// What jsdom lacks of a browser.
vi.hoisted(() => {
  class Nothing {
    observe() {}
    disconnect() {}
  }
  vi.stubGlobal("matchMedia", () => new EventTarget());
  vi.stubGlobal("IntersectionObserver", Nothing);
});

import { methodsQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { LiveCurves } from "@/charts/live-curves";

import { CurvesTab } from "./curves-tab";

const RUN = { id: "run_a", project_id: "project_a", method: "sft", config: {} } as unknown as Run;
const TEXTS = { what: "It is.", healthy: "It rises.", unit: "" };
const METRICS = [
  { ...TEXTS, name: "loss", group: "Training", title: "Loss" },
  { ...TEXTS, name: "system/cpu_cores", group: "System", title: "Processor cores" },
];

async function curvesOf(names: readonly string[]): Promise<LiveCurves> {
  const live = new LiveCurves(
    "step",
    () => Promise.resolve([]),
    () => undefined,
  );
  await live.load();
  for (const step of [1, 2])
    live.append({
      ...{ step, tokens: step, time: step },
      values: Object.fromEntries(names.map((name) => [name, step])),
    });
  return live;
}

/** What the tab says where somebody looks for a metric. */
async function found(metric: string): Promise<string> {
  const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  client.setQueryData(methodsQuery.queryKey, {
    methods: [{ method: "sft", metrics: METRICS }],
  } as never);
  const tab = (
    <CurvesTab
      {...{ run: RUN, tick: 1, isLoaded: true, isWaiting: false, onPick: undefined }}
      live={await curvesOf(METRICS.map(({ name }) => name))}
      shownElsewhere={new Set()}
    />
  );
  const router = createMemoryRouter([{ path: "/", element: tab }], {
    initialEntries: [`/?metric=${metric}`],
  });
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  const ground = document.createElement("div");
  const page = createRoot(ground);
  await act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>,
    ),
  );
  const text = ground.textContent;
  await act(() => page.unmount());
  return text;
}

test("charts that are found among the folded ones are not told as none", async () => {
  const shown = await found("cpu");

  expect(shown).toContain("Processor cores");
  expect(shown).not.toContain("No metric has");
});

test("a metric that there is not is said to be none", async () => {
  expect(await found("nothing")).toContain("No metric has “nothing” in its title or name.");
});
