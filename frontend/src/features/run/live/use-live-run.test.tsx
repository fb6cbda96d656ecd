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

function Page() {
  useLiveRun(RUN, true);
  return null;
}

/** What is asked for anew once an event of this type has come. */
async function askedAfter(type: LiveEvent["type"], ms: number) {
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
        <Page />
      </QueryClientProvider>,
    ),
  );
  followers.at(-1)?.onEvent({ seq: 1, type, data: {}, at: "" } as unknown as LiveEvent);
  await vi.advanceTimersByTimeAsync(ms);
  await act(() => page.unmount());
  return KEYS.map((key) => client.getQueryState(key)?.isInvalidated);
}

afterEach(() => vi.useRealTimers());

it("samples that were logged refresh the samples and the run, at most every five seconds", async () => {
  expect(await askedAfter("sample", 4000)).toEqual([false, false, false]);
  expect(await askedAfter("sample", 6000)).toEqual([true, true, false]);
});

it("a checkpoint refreshes all that is known of the run", async () => {
  expect(await askedAfter("checkpoint", 1500)).toEqual([true, true, true]);
});
