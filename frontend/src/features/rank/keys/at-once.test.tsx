// @vitest-environment window
/** What somebody presses as soon as a comparison is drawn, before anything else has run. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Assignment } from "@/api/types";

import { Comparison } from "../comparison";
import { useTouched } from "../leases/touched";
import { wordsOf } from "../ranking/ranking";
import { lastSaid } from "./twice";

const assignment = (count: number): Assignment => ({
  id: "as_1",
  comparison: {
    id: "cmp_1",
    prompt: { id: "prm_1", messages: [{ role: "user", content: "Which?" }] },
    responses: Array.from({ length: count }, (_, n) => ({ id: `rsp_${n}`, content: `No. ${n}` })),
  },
  criteria: [],
  presented_order: Array.from({ length: count }, (_, n) => `rsp_${n}`),
  expires_at: "",
});

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let sent: [words: string, activeMs: number][];
let isTouched: (id: string) => boolean;
/** Milliseconds by which the clock of the page is put forward. */
let laterMs: number;

beforeEach(() => {
  // Without `act`, which would leave no time between the drawing and its effects.
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", false);
  // jsdom lays nothing out.
  Element.prototype.scrollIntoView = () => undefined;
  globalThis.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  localStorage.clear();
  lastSaid.forget();
  [sent, laterMs] = [[], 0];
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + laterMs);
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => {
  page.unmount();
  vi.restoreAllMocks();
});

function Page({ shown }: { shown: Assignment }) {
  const touched = useTouched(shown.id);
  return (
    <div ref={() => void (isTouched = touched)}>
      <Comparison
        page="rank"
        projectId="prj_1"
        assignment={shown}
        onReopen={null}
        onSubmit={(_, ranking, activeMs) => sent.push([wordsOf(ranking), activeMs])}
        onSkip={null}
      />
    </div>
  );
}

/** An answer of the server brings it; `then` comes as soon as it is drawn. */
async function show(shown: Assignment, then: () => void): Promise<void> {
  const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  const isDrawn = new Promise<void>((resolve) => {
    const watch = new MutationObserver(() => {
      watch.disconnect();
      resolve();
    });
    watch.observe(ground, { childList: true, subtree: true });
  });
  page.render(
    <QueryClientProvider client={client}>
      <Page shown={shown} />
    </QueryClientProvider>,
  );
  await isDrawn;
  then();
  await new Promise((resolve) => setTimeout(resolve, 50));
}

const press = (key: string, target: Element = document.body) =>
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const button = (name: string) =>
  [...ground.querySelectorAll("button")].find(({ textContent }) => textContent.startsWith(name));

it("counts the time of a judgment that is the first key", async () => {
  await show(assignment(2), () => {
    laterMs = 700;
    press("a");
  });
  expect(sent).toEqual([["A > B", expect.any(Number)]]);
  expect(sent[0]?.[1]).toBeGreaterThanOrEqual(700);
});

it("leaves Enter to the button to which the first Tab leads", async () => {
  const draft = { tiers: [[0], [1], [2]], order: [0, 1, 2], unranked: [], verdict: "ranked" };
  localStorage.setItem("podium.draft.as_1", JSON.stringify({ ...draft, count: 3 }));
  await show(assignment(3), () => press("Tab"));
  const other = button("All bad");
  other?.focus();
  press("Enter", other);
  expect(sent).toEqual([]);
});

it("begins at the prompt, and is touched by the first key", async () => {
  let focused: string | null | undefined;
  await show(assignment(3), () => {
    focused = document.activeElement?.getAttribute("aria-label");
    press("ArrowRight");
    focused = `${focused} ${isTouched("as_1")}`;
  });
  expect(focused).toBe("Prompt true");
});
