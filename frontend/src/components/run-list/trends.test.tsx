// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Run } from "@/api/types";

import { Trend, useTrends } from "./trends";

const RUN = {
  ...{ id: "run_a", method: "sft", state: "succeeded" },
  summary: { loss: 1, "gold/reward": 1 },
} as unknown as Run;

const LOSS = { name: "loss", title: "Loss", is_evaluation: false };

function Listed() {
  return <Trend headline={useTrends([RUN]).get(RUN.id)} />;
}

/** Show the run while the service answers so; the addresses that were asked for. */
async function shown(answer: (path: string) => Promise<Response>) {
  const asked: string[] = [];
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", (url: string | Request) => {
    const path = typeof url === "string" ? url : url.url;
    asked.push(path);
    return answer(path);
  });
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
  await act(async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
  });
  const text = ground.textContent;
  act(() => page.unmount());
  return { text, asked };
}

describe("the trend of a run in a list", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("is asked for only once the methods are known", async () => {
    const { text, asked } = await shown(() => new Promise(() => undefined));
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain("/methods");
    expect(text).toBe("–");
  });
  it("is shown as failed where its curves did not load", async () => {
    const METHODS = { methods: [{ method: "sft", headlines: ["loss"], metrics: [LOSS] }] };
    const { text, asked } = await shown((path) =>
      Promise.resolve(
        path.includes("/methods")
          ? new Response(JSON.stringify(METHODS), {
              headers: { "Content-Type": "application/json" },
            })
          : new Response("{}", { status: 500 }),
      ),
    );
    expect(asked.some((path) => path.includes("/metrics?"))).toBe(true);
    expect(text).toBe("curve did not load");
  });
  it("is shown as failed where they did not load", async () => {
    const { text, asked } = await shown(() => Promise.resolve(new Response("{}", { status: 500 })));
    expect(asked.every((path) => path.includes("/methods"))).toBe(true);
    expect(text).toBe("curve did not load");
  });
});
