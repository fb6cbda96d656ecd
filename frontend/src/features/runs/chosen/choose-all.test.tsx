// @vitest-environment window
import { QueryClient, QueryClientProvider, useInfiniteQuery } from "@tanstack/react-query";
import { act, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { runPages } from "@/api/runs";
import { NOTHING } from "@/features/runs/table/selection";

import { ChooseAll, useChoosingAll } from "./choose-all";

const PAGE = 50;
let matching = 0;
let isHeld = false;
let release: () => void = () => undefined;
const shown: { chosen?: readonly string[]; show?: (filter: string) => void } = {};

function Page() {
  const [filter, show] = useState("a");
  const [view, setView] = useState({});
  const [selection, setSelection] = useState(NOTHING);
  const pages = useInfiniteQuery(runPages({ filter }));
  const choosing = useChoosingAll(pages, view, setSelection);
  useEffect(() => {
    const other = (next: string) => {
      show(next);
      setView({});
    };
    Object.assign(shown, { chosen: selection.chosen, show: other });
  }, [selection]);
  return pages.hasNextPage && <ChooseAll {...choosing} isFull={selection.chosen.length >= 500} />;
}

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

async function answer(url: string): Promise<Response> {
  const query = new URL(url, "http://podium").searchParams;
  const from = Number(query.get("cursor"));
  if (isHeld && from > 0) await new Promise<void>((resolve) => (release = resolve));
  const n = Math.min(PAGE, matching - from);
  const items = Array.from({ length: n }, (_, i) => ({ id: `${query.get("filter")}${from + i}` }));
  const next = from + n < matching ? String(from + n) : null;
  return Response.json({ items, next_cursor: next });
}

const until = (isSo: () => void) => act(() => vi.waitFor(isSo));
const press = () => act(() => ground.querySelector("button")?.click());

async function open(n: number): Promise<void> {
  matching = n;
  await act(async () => {
    page.render(
      <QueryClientProvider client={new QueryClient()}>
        <Page />
      </QueryClientProvider>,
    );
    await Promise.resolve();
  });
  await until(() => expect(ground.querySelector("button")).not.toBeNull());
}

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", answer);
  isHeld = false;
  page = createRoot(ground);
});
afterEach(() => {
  act(() => page.unmount());
  vi.unstubAllGlobals();
});

it("chooses the runs of all pages", async () => {
  await open(130);
  press();
  await until(() => expect(shown.chosen).toHaveLength(130));
  expect(ground.textContent).toBe("");
});

it("chooses no more than can be changed at once, and says so", async () => {
  await open(620);
  press();
  await until(() => expect(shown.chosen).toHaveLength(500));
  expect(ground.textContent).toBe("More match; at most 500 are chosen at once.");
});

it("chooses nothing for who has changed the filter meanwhile", async () => {
  isHeld = true;
  await open(130);
  press();
  act(() => shown.show?.("b"));
  isHeld = false;
  await act(async () => {
    release();
    await Promise.resolve();
  });
  await until(() => expect(ground.querySelector("button")?.ariaDisabled).not.toBe("true"));
  expect(shown.chosen).toEqual([]);
});
