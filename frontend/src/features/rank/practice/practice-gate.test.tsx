// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, it, vi } from "vitest";

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

it("sends one answer, though two keys come before its score", async () => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  globalThis.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  const ground = document.createElement("div");
  document.body.append(ground);
  const page = createRoot(ground);
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(practiceQuery("prj_1").queryKey, STATE);
  vi.stubGlobal("fetch", () => new Promise(() => undefined));
  act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <PracticeGate projectId="prj_1" userId="usr_1">
          <p>Passed</p>
        </PracticeGate>
      </QueryClientProvider>,
    ),
  );
  for (const key of ["b", "a"])
    await act(async () => {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    });
  expect(answered).toEqual([[["rsp_b"], ["rsp_a"]]]);
  act(() => page.unmount());
});
