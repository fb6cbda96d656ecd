// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type * as Practice from "@/api/practice";
import type { Assignment } from "@/api/types";

import { UseForPractice } from "./use-for-practice";

/** What was added to practice as expected. */
const added = vi.hoisted(() => [] as { tiers?: string[][]; rankings?: { tiers: string[][] }[] }[]);
vi.mock("@/api/practice", async (original) => ({
  ...(await original<typeof Practice>()),
  addToPractice: (_project: string, _comparison: string, body: { expected: object }) => {
    added.push(body.expected);
    return Promise.resolve(null);
  },
}));

const assignment = (count: number, ...criteria: string[]): Assignment => ({
  id: "as_1",
  comparison: {
    id: "cmp_1",
    prompt: { id: "prm_1", messages: [{ role: "user", content: "Which?" }] },
    responses: Array.from({ length: count }, (_, n) => ({ id: `rsp_${n}`, content: `No. ${n}` })),
  },
  criteria: criteria.map((name) => ({ name, question: `Which is more ${name}?` })),
  presented_order: Array.from({ length: count }, (_, n) => `rsp_${n}`),
  expires_at: "",
});

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let used: string[];

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
  };
  localStorage.clear();
  [added.length, used] = [0, []];
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => act(() => page.unmount()));

function open(shown: Assignment): void {
  act(() =>
    page.render(
      <QueryClientProvider client={new QueryClient()}>
        <UseForPractice projectId="prj_1" assignment={shown} onUsed={(id) => used.push(id)} />
      </QueryClientProvider>,
    ),
  );
  act(() => ground.querySelector<HTMLButtonElement>(".use-for-practice")?.click());
}

const buttons = (words: string) =>
  [...ground.querySelectorAll<HTMLButtonElement>("dialog button")].filter(
    ({ textContent }) => textContent === words,
  );
const press = (words: string, place = 0) => act(async () => buttons(words)[place]?.click());
const use = () => buttons("Use for practice")[0];

it("asks in the dialog what is expected of two responses, where a key would submit", async () => {
  open(assignment(2));
  expect(use()?.disabled).toBe(true);
  await press("A is better");
  await press("B is better");
  expect(buttons("B is better")[0]?.getAttribute("aria-pressed")).toBe("true");
  expect(buttons("A is better")[0]?.getAttribute("aria-pressed")).toBe("false");
  await press("Use for practice");
  expect(added.map(({ tiers }) => tiers)).toEqual([[["rsp_1"], ["rsp_0"]]]);
  expect(used).toEqual(["as_1"]);
});

it("asks it under each criterion", async () => {
  open(assignment(2, "helpful", "harmless"));
  await press("A is better", 0);
  expect(use()?.disabled).toBe(true);
  await press("Tie", 1);
  await press("Use for practice");
  expect(added[0]?.rankings?.map(({ tiers }) => tiers)).toEqual([
    [["rsp_0"], ["rsp_1"]],
    [["rsp_0", "rsp_1"]],
  ]);
});

it("takes of more responses the ranking on the page", () => {
  open(assignment(3));
  expect(use()?.disabled).toBe(true);
  expect(buttons("A is better")).toEqual([]);
  expect(ground.textContent).toContain("Rank the comparison first");
});
