import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { createMemoryRouter, RouterProvider } from "react-router";
import { expect, test, vi } from "vitest";

vi.hoisted(() => vi.stubGlobal("matchMedia", () => new EventTarget()));

import { promptScorePages } from "@/api/measured/prompt-scores";
import type { Run } from "@/api/types";

import { PromptsTab } from "./prompts-tab";

/** The tab of a run without scores. */
function shown(run: Partial<Run>): string {
  const client = new QueryClient();
  const none = { pages: [{ items: [] }], pageParams: ["-1"] } as never;
  client.setQueryData(promptScorePages("run_a").queryKey, none);
  const tab = <PromptsTab run={{ id: "run_a", ...run } as Run} base="/runs/run_a" />;
  return renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <RouterProvider router={createMemoryRouter([{ path: "/", element: tab }])} />
    </QueryClientProvider>,
  );
}

test.each([
  [{ state: "queued" }],
  [{ state: "running" }],
  [{ state: "paused" }],
  [{ state: "crashed", is_retried: true }],
] as const)("scores are still to come where a run may go on: %j", (run) => {
  expect(shown(run)).toContain("appear here after the first step");
});

test.each([[{ state: "succeeded" }], [{ state: "crashed", is_retried: false }]] as const)(
  "a run that is over is told as one that recorded none: %j",
  (run) => {
    expect(shown(run)).toContain("it ended before its first step");
  },
);
