// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type * as Runs from "@/api/runs";
import { meQuery } from "@/api/session";
import type { LiveEvent } from "@/api/stream/messages";
import type { Run, User } from "@/api/types";

import { useLiveRows } from "./use-live-rows";

const follow = vi.hoisted(() => new Map<string, (event: LiveEvent) => void>());
vi.mock("@/api/stream/follow", () => ({
  followRun: (_: string, runId: string, told: { onEvent: (event: LiveEvent) => void }) => {
    follow.set(runId, told.onEvent);
    return () => follow.delete(runId);
  },
}));

const asked: string[][] = [];
vi.mock("@/api/runs", async (original) => {
  const real = await original<typeof Runs>();
  const runsOf = (ids: readonly string[]) => {
    asked.push([...ids]);
    return Promise.resolve(ids.map((id) => run(id, "queued")));
  };
  return {
    ...real,
    runsByIdQuery: (ids: readonly string[], columns: string) => ({
      ...real.runsByIdQuery(ids, columns),
      queryFn: () => runsOf(ids),
    }),
  };
});

const run = (id: string, state: string) =>
  ({ id, state, progress: {}, summary: {} }) as unknown as Run;

function List({ runs }: { runs: readonly Run[] }) {
  const rows = useLiveRows(runs, "");
  return <>{rows.map(({ run: { id, state, progress } }) => `${id} ${state} ${progress.step}`)}</>;
}

const client = new QueryClient();
const root = () => createRoot(document.createElement("div"));
let page: ReturnType<typeof root>;

const show = (...runs: Run[]) =>
  act(() =>
    page.render(
      <StrictMode>
        <QueryClientProvider client={client}>
          <List runs={runs} />
        </QueryClientProvider>
      </StrictMode>,
    ),
  );

const event = (runId: string, type: string) =>
  ({ run: runId, seq: 1, type, data: {}, at: "" }) as unknown as LiveEvent;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.useFakeTimers();
  client.setQueryData(meQuery.queryKey, { id: "user_a" } as User);
  page = root();
});

afterEach(() => {
  act(() => page.unmount());
  vi.useRealTimers();
});

it("asks for a run that was queued again just before the list changed", async () => {
  await show(run("a", "succeeded"));
  follow.get("a")?.(event("a", "state"));
  await show(run("a", "succeeded"), run("b", "succeeded"));
  await act(() => vi.advanceTimersByTimeAsync(300));
  expect(asked).toEqual([["a"]]);
});
