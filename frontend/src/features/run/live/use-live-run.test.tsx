// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, expect, it, vi } from "vitest";

import { checkpointsQuery, eventsQuery, runQuery, samplesQuery } from "@/api/runs";
import { meQuery } from "@/api/session";
import type { Follower, LiveEvent } from "@/api/stream/messages";

import { useLiveRun } from "./use-live-run";

const followers: Follower[] = [];
vi.mock("@/api/stream/follow", () => ({
  followRun: (_: string, __: string, follower: Follower) => {
    followers.push(follower);
    return () => {};
  },
}));

const RUN = "run_a";
const SAMPLES = samplesQuery(RUN, {
  kind: "rollout",
  step: 1,
  prompt_id: null,
  q: "",
  every_step: false,
  sort: "order",
}).queryKey;
const KEYS = [runQuery(RUN).queryKey, SAMPLES, eventsQuery(RUN).queryKey];

function Page({ mayMoveOn }: { mayMoveOn: boolean }) {
  useLiveRun(RUN, mayMoveOn);
  return null;
}

/** What is asked for anew once the page was told something. */
async function askedAfter(tell: (page: Follower) => void, ms: number, mayMoveOn = true) {
  vi.useFakeTimers();
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  const client = new QueryClient();
  client.setQueryData(meQuery.queryKey, { id: "user_a" } as never);
  for (const key of [...KEYS, checkpointsQuery(RUN).queryKey])
    client.setQueryData(key, {} as never);
  const page = createRoot(document.createElement("div"));
  await act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <Page mayMoveOn={mayMoveOn} />
      </QueryClientProvider>,
    ),
  );
  const follower = followers.at(-1);
  if (follower !== undefined) tell(follower);
  await vi.advanceTimersByTimeAsync(ms);
  const asked = KEYS.map((key) => client.getQueryState(key)?.isInvalidated);
  await act(() => page.unmount());
  return asked;
}

const event = (type: LiveEvent["type"], data: LiveEvent["data"] = {}) => {
  const told = { seq: 1, type, data, at: "" } as unknown as LiveEvent;
  return (page: Follower) => page.onEvent(told);
};

afterEach(() => vi.useRealTimers());

it("samples that were logged refresh the samples and the run, at most every five seconds", async () => {
  expect(await askedAfter(event("sample"), 4000)).toEqual([false, false, false]);
  expect(await askedAfter(event("sample"), 6000)).toEqual([true, true, false]);
});

it("a checkpoint refreshes all that is known of the run", async () => {
  expect(await askedAfter(event("checkpoint"), 1500)).toEqual([true, true, true]);
});

it.each([true, false])(
  "what somebody attaches refreshes all that is known of the run; it may go on: %s",
  async (mayMoveOn) => {
    const metric = (name: string) => event("metric", { points: [{ values: { [name]: 0.5 } }] });
    expect(await askedAfter(metric("gold/score"), 1500, mayMoveOn)).toEqual([true, true, true]);
    expect(await askedAfter(metric("loss"), 1500, mayMoveOn)).toEqual([false, false, false]);
  },
);

it("a run that is over is loaded again only where the stream has a gap", async () => {
  const join = (page: Follower) => page.onJoin();
  expect(await askedAfter(join, 1500, true)).toEqual([true, true, true]);
  expect(await askedAfter(join, 1500, false)).toEqual([false, false, false]);
  const again = (page: Follower) => [join(page), join(page)];
  expect(await askedAfter(again, 1500, false)).toEqual([true, true, true]);
});
