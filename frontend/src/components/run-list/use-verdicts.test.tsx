// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, expect, it, vi } from "vitest";

import type { Run } from "@/api/types";

import { useVerdictsAsked } from "./use-verdicts";

const RUNS = ["run_a", "run_b"].map(
  (id) =>
    ({ id, state: "succeeded", summary: id === "run_a" ? { loss: 1 } : {} }) as unknown as Run,
);

function Listed() {
  const { found, failed } = useVerdictsAsked(RUNS);
  return `${[...found.keys()].join()}; failed: ${[...failed].join()}`;
}

async function shown(answer: Response): Promise<string> {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", () => Promise.resolve(answer));
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const ground = document.createElement("div");
  const page = createRoot(ground);
  act(() => {
    page.render(
      <QueryClientProvider client={client}>
        <Listed />
      </QueryClientProvider>,
    );
  });
  const look = () => act(() => new Promise((resolve) => setTimeout(resolve, 5)));
  for (let looks = 0; looks < 1000 && client.isFetching() > 0; looks++) await look();
  // What came last is drawn.
  await look();
  const text = ground.textContent;
  act(() => page.unmount());
  return text;
}

afterEach(() => vi.unstubAllGlobals());

it("a verdict that did not load is not one that is missing", async () => {
  const told = new Response(JSON.stringify({ items: [{ run: "run_a" }] }), {
    headers: { "Content-Type": "application/json" },
  });
  expect(await shown(told)).toBe("run_a; failed: ");
  // A run that has measured nothing is not asked about.
  expect(await shown(new Response("{}", { status: 500 }))).toBe("; failed: run_a");
});
