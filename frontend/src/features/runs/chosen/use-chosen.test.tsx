// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { meQuery } from "@/api/session";
import type { Run, User } from "@/api/types";

import { toggled } from "@/features/runs/table/selection";
import { useChosen } from "./use-chosen";

const run = (id: string) => ({ id, name: `run ${id}` }) as unknown as Run;
const shown: { now?: ReturnType<typeof useChosen> } = {};
const asked: string[] = [];

function Page({ listed }: { listed: readonly string[] | null }) {
  Object.assign(shown, { now: useChosen("p", listed?.map(run) ?? null) });
  return null;
}

let page: ReturnType<typeof createRoot>;
let client: QueryClient;

const show = (listed: readonly string[] | null) =>
  act(async () => {
    page.render(
      <QueryClientProvider client={client}>
        <Page listed={listed} />
      </QueryClientProvider>,
    );
    await Promise.resolve();
  });
const choose = (id: string) => act(() => shown.now?.setSelection((now) => toggled(now, id)));
const chosen = () => shown.now?.chosen;
const idsOf = (runs: readonly Run[] | undefined) => runs?.map(({ id }) => id);

function open(userId: string): void {
  client = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Infinity } } });
  client.setQueryData(meQuery.queryKey, { id: userId } as User);
  page = createRoot(document.createElement("div"));
}

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", (url: string) => {
    const ids = new URL(url, "http://podium").searchParams.get("runs") ?? "";
    asked.push(ids);
    return Promise.resolve(Response.json({ items: ids.split(",").map(run), next_cursor: null }));
  });
  asked.length = 0;
  sessionStorage.clear();
  open("ada");
});
afterEach(() => {
  act(() => page.unmount());
  sessionStorage.clear();
  vi.unstubAllGlobals();
});

it("keeps the chosen runs that a filter does not list, and says which these are", async () => {
  await show(["a", "b"]);
  choose("a");
  choose("b");
  expect([idsOf(chosen()?.runs), asked]).toEqual([["a", "b"], []]);

  await show(["b", "c"]);
  await act(() => vi.waitFor(() => expect(chosen()?.waiting).toBe(0)));
  expect(idsOf(chosen()?.runs)).toEqual(["b", "a"]);
  expect(idsOf(chosen()?.unlisted)).toEqual(["a"]);
  expect(asked).toEqual(["a"]);
});

it("has them when its person comes back, and asks for none before it knows the list", async () => {
  await show(["a", "b"]);
  choose("b");
  act(() => page.unmount());
  open("ada");
  await show(null);
  expect([chosen()?.runs, asked]).toEqual([[], []]);
  await show(["a", "b"]);
  expect([idsOf(chosen()?.runs), asked]).toEqual([["b"], []]);

  choose("b");
  act(() => page.unmount());
  open("ada");
  await show(["a", "b"]);
  expect(chosen()?.runs).toEqual([]);
});

it("knows nothing of what somebody else has chosen", async () => {
  await show(["a"]);
  choose("a");
  act(() => page.unmount());
  open("grace");
  await show(["a"]);
  expect(chosen()?.runs).toEqual([]);
});
