// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { logQuery } from "@/api/runs";
import type { LogLine, Run } from "@/api/types";

import { LogsTab } from "./logs-tab";

const LINE_PX = 20;
const BOX_PX = 100;

const ground = document.createElement("div");
const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
const run = { id: "run_1", state: "running", finished_at: null } as unknown as Run;
let page: ReturnType<typeof createRoot>;

const lines = (count: number): LogLine[] =>
  Array.from({ length: count }, (_, n) => ({
    ...{ number: n + 1, attempt: 1, stream: "stdout", text: `step ${n}` },
  })) as LogLine[];

/** jsdom lays nothing out. */
function layOut(): void {
  const tops = new WeakMap<Element, number>();
  const heightOf = (box: Element) => box.childElementCount * LINE_PX;
  vi.spyOn(Element.prototype, "scrollHeight", "get").mockImplementation(function (this: Element) {
    return heightOf(this);
  });
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(BOX_PX);
  vi.spyOn(Element.prototype, "scrollTop", "get").mockImplementation(function (this: Element) {
    return tops.get(this) ?? 0;
  });
  vi.spyOn(Element.prototype, "scrollTop", "set").mockImplementation(function (this: Element, top) {
    tops.set(this, Math.max(0, Math.min(top, heightOf(this) - BOX_PX)));
  });
}

beforeEach(() => {
  // Without `act`, which would leave no time between the drawing and its effects.
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", false);
  layOut();
  client.setQueryData(logQuery("run_1").queryKey, []);
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => {
  page.unmount();
  vi.restoreAllMocks();
});

const box = () => ground.querySelector<HTMLElement>(".log-box");
const follow = () => ground.querySelector<HTMLInputElement>("input[type=checkbox]");
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

/** So many lines have come; `then` is as soon as they are drawn. */
async function show(count: number, then = () => undefined as unknown): Promise<void> {
  const isDrawn = new Promise<void>((resolve) => {
    const watch = new MutationObserver(() => {
      watch.disconnect();
      resolve();
    });
    watch.observe(ground, { childList: true, subtree: true });
  });
  page.render(
    <QueryClientProvider client={client}>
      <LogsTab run={run} fresh={lines(count)} />
    </QueryClientProvider>,
  );
  await isDrawn;
  then();
  await pause();
}

function scrollTo(top: number): void {
  const at = box();
  if (at === null) return;
  at.scrollTop = top;
  at.dispatchEvent(new Event("scroll"));
}

it("shows the newest line as lines come", async () => {
  await show(10);
  expect(box()?.scrollTop).toBe(100);
  await show(20);
  expect(box()?.scrollTop).toBe(300);
});

it.each([
  ["with the first lines", 0],
  ["with lines that follow others", 10],
])("stays where somebody scrolls to who comes at once, %s", async (_, before) => {
  if (before > 0) await show(before);
  await show(20, () => scrollTo(60));
  expect([box()?.scrollTop, follow()?.checked]).toEqual([60, false]);
  await show(30);
  expect(box()?.scrollTop).toBe(60);
});
