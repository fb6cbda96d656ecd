// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, expect, it, vi } from "vitest";

import { meQuery } from "@/api/session";
import type { Follower, LiveEvent } from "@/api/stream/messages";

import { useLiveCurves } from "./use-live-curves";

const followers: Follower[] = [];
vi.mock("@/api/stream/follow", () => ({
  followRun: (_: string, __: string, follower: Follower) => {
    followers.push(follower);
    return () => {};
  },
}));

/** A run that is over. */
function Page() {
  const { live } = useLiveCurves("run_a", false, "step", null);
  return <>{live.curves.get("gold/score")?.last.join()}</>;
}

const y = { low: 0, unit: 1 };
const series = (values: readonly number[]) => ({
  ...{ name: "gold/score", n: values.length, x: values.map((_, n) => n), origin: 0 },
  ...{ n_points: values.map(() => 1), n_nan: values.map(() => 0), first: 0, newest: 0 },
  y: { ...y, min: values, max: values, mean: values, last: values },
});

const ground = document.createElement("div");
const page = createRoot(ground);
afterEach(async () => {
  await act(() => page.unmount());
  vi.unstubAllGlobals();
});

it("shows what somebody attaches to a run that is over", async () => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  let kept = [1, 2];
  const headers = { "Content-Type": "application/json" };
  vi.stubGlobal("fetch", () =>
    Promise.resolve(new Response(JSON.stringify({ series: [series(kept)] }), { headers })),
  );
  const client = new QueryClient();
  client.setQueryData(meQuery.queryKey, { id: "user_a" } as never);
  const pass = () => act(() => new Promise((drawn) => setTimeout(drawn, 250)));
  const tell = (step: number, value: number) => {
    const points = [{ step, tokens: 0, time: 0, values: { "gold/score": value } }];
    followers.at(-1)?.onEvent({ type: "metric", data: { points } } as unknown as LiveEvent);
    return pass();
  };
  await act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <Page />
      </QueryClientProvider>,
    ),
  );
  await pass();
  expect(ground.textContent).toBe("1,2");

  await tell(2, 3);
  expect(ground.textContent).toBe("1,2,3");

  // In the place of one that is drawn.
  kept = [7, 2, 3];
  await tell(0, 7);
  expect(ground.textContent).toBe("7,2,3");
});
