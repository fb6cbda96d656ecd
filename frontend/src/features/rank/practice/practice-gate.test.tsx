// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type * as Practice from "@/api/practice";
import { practiceQuery } from "@/api/practice";
import type { PracticeState } from "@/api/types";

import { PracticeGate } from "./practice-gate";

const answered = vi.hoisted(() => [] as unknown[]);
vi.mock("@/api/practice", async (original) => ({
  ...(await original<typeof Practice>()),
  answerPractice: (_project: string, _comparison: string, body: { tiers: string[][] }) => {
    answered.push(body.tiers);
    // On its way for as long as the test lasts.
    return new Promise(() => undefined);
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
  vi.stubGlobal("fetch", () => new Promise(() => undefined));
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => act(() => page.unmount()));

function show(userId: string, state: PracticeState): void {
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
}

const press = (key: string) =>
  act(async () => {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  });
const ranks = () => [...ground.querySelectorAll(".resp .rank")].map((rank) => rank.textContent);

it("sends one answer, though two keys come before its score", async () => {
  show("usr_1", STATE);
  for (const key of ["b", "a"]) await press(key);
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
