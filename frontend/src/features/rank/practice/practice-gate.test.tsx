// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type * as Practice from "@/api/practice";
import { practiceQuery } from "@/api/practice";
import type { PracticeState } from "@/api/types";

import { PracticeGate } from "./practice-gate";

const answered = vi.hoisted(() => [] as unknown[]);
/** What the server says to an answer; nothing yet if null. */
const world = vi.hoisted(() => ({ feedback: null as unknown }));
vi.mock("@/api/practice", async (original) => ({
  ...(await original<typeof Practice>()),
  answerPractice: (_project: string, _comparison: string, body: { tiers: string[][] }) => {
    answered.push(body.tiers);
    return world.feedback === null ? new Promise(() => undefined) : Promise.resolve(world.feedback);
  },
}));

const STATE = {
  is_required: true,
  comparisons: 2,
  attempt: 1,
  answered: 1,
  passed_at: null,
  next: {
    comparison: {
      id: "cmp_1",
      prompt: { id: "prm_1", messages: [{ role: "user", content: "Which?" }] },
      responses: [
        { id: "rsp_a", content: "This." },
        { id: "rsp_b", content: "That." },
      ],
    },
    criteria: [],
    presented_order: ["rsp_a", "rsp_b"],
  },
} as unknown as PracticeState;

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  globalThis.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  localStorage.clear();
  answered.length = 0;
  world.feedback = null;
  vi.stubGlobal("fetch", () => new Promise(() => undefined));
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => act(() => page.unmount()));

function show(userId: string, state: PracticeState): QueryClient {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(practiceQuery("prj_1").queryKey, state);
  act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <PracticeGate key={userId} projectId="prj_1" userId={userId}>
          <p>Passed</p>
        </PracticeGate>
      </QueryClientProvider>,
    ),
  );
  return client;
}

const press = (key: string) =>
  act(async () => {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  });
const ranks = () => [...ground.querySelectorAll(".resp .rank")].map((rank) => rank.textContent);

it("sends one answer by Enter, though another comes before its score", async () => {
  show("usr_1", STATE);
  await press("b");
  expect(answered).toEqual([]);
  for (const key of ["Enter", "a", "Enter"]) await press(key);
  expect(answered).toEqual([[["rsp_b"], ["rsp_a"]]]);
});

it("keeps what somebody has placed from who practises next in the same browser", async () => {
  const three = structuredClone(STATE);
  three.next?.comparison.responses.push({ id: "rsp_c", content: "Other." });
  show("usr_1", three);
  await press("c");
  expect(ranks()).toEqual(["unranked", "unranked", "1st"]);
  show("usr_2", three);
  expect(ranks()).toEqual(["unranked", "unranked", "unranked"]);
  show("usr_1", three);
  expect(ranks()).toEqual(["unranked", "unranked", "1st"]);
});

it("goes on after an answer, though what was asked for before it is answered later", async () => {
  const answers: ((response: Response) => void)[] = [];
  vi.stubGlobal(
    "fetch",
    (path: string) =>
      new Promise((resolve) => {
        if (path.endsWith("/practice")) answers.push(resolve);
      }),
  );
  const state = { ...STATE, answered: 2, next: null, agreed: 1, pairs: 2, bar: 0.8 };
  world.feedback = { agreed: 1, pairs: 1, expected: [], explanation: "", state };
  const client = show("usr_1", STATE);
  act(() => void client.refetchQueries(practiceQuery("prj_1")));
  for (const key of ["b", "Enter"]) await press(key);
  expect(answers.length).toBeGreaterThan(0);
  await act(async () => answers[0]?.(new Response(JSON.stringify(STATE))));
  const next = ground.querySelector<HTMLButtonElement>("button.primary");
  expect(next?.textContent).toContain("See the result");
  await act(async () => next?.click());
  expect(ground.querySelector("h1")?.textContent).toBe("Not passed yet");
});
