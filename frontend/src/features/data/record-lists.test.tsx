// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { createMemoryRouter, RouterProvider } from "react-router";
import { afterEach, beforeEach, expect, it } from "vitest";

import { judgmentPages, promptPages, responsePages } from "@/api/projects";

import { PromptList } from "./prompt-list";
import { JudgmentList } from "./record-lists";
import { ResponseList } from "./response-list";

const AT = "2026-11-01T00:00:00Z";
const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  page = createRoot(ground);
});
afterEach(() => act(() => page.unmount()));

function show(list: ReactNode, pages: { queryKey: readonly unknown[] }, item: object): void {
  const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  const only = { items: [item], next_cursor: null };
  client.setQueryData(pages.queryKey, { pages: [only], pageParams: [null] });
  act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <RouterProvider router={createMemoryRouter([{ path: "*", element: list }])} />
      </QueryClientProvider>,
    ),
  );
}

// From before they were held to the rules of names.
it("shows each character of the tags of prompts", () => {
  show(<PromptList projectId="prj_1" />, promptPages("prj_1"), {
    ...{ id: "prm_1", messages: [{ role: "user", content: "Hello" }], created_at: AT },
    ...{ tags: ["a\u202eb"], reference: null, metadata: {} },
  });
  expect(ground.querySelector(".tag")?.textContent).toBe("aRLOb");
});

const prompt = {
  ...{ id: "prm_1", messages: [{ role: "user", content: "Who lies?" }], created_at: AT },
  ...{ tags: [], reference: "Ann is a knight.", metadata: { split: "test", people: ["Ann"] } },
};

it("says what is known of prompts", () => {
  show(<PromptList projectId="prj_1" />, promptPages("prj_1"), prompt);
  expect(ground.textContent).toContain("Ground truth");
  expect(ground.querySelector(".truth")?.textContent).toBe("Ann is a knight.");
  expect(ground.querySelector("td .faint")?.textContent).toBe('split: test, people: ["Ann"]');
});

it("has no column for ground truth where no prompt has any", () => {
  show(<PromptList projectId="prj_1" />, promptPages("prj_1"), { ...prompt, reference: null });
  expect(ground.textContent).not.toContain("Ground truth");
});

it("shows each character of the source of a response", () => {
  show(<ResponseList projectId="prj_1" />, responsePages("prj_1", null), {
    ...{ id: "rsp_1", prompt: "Hello", content: "Hi", created_at: AT, scores: {} },
    ...{ run_id: null, run_name: null, n_tokens: null, source: "a\u200bb" },
  });
  expect(ground.querySelector("td .muted .hidden-character")?.textContent).toBe("ZWSP");
});

it("tells readers of a judgment what was flagged and why it cannot be judged", () => {
  show(<JudgmentList projectId="prj_1" />, judgmentPages("prj_1"), {
    ...{ id: "jdg_1", prompt: "Hello", by: "Ada", comment: "", active_ms: null, created_at: AT },
    ...{ verdict: "cannot_judge", reasons: ["unreadable", "unsafe content"], tiers: [] },
    ...{ rankings: [], flags: ["rsp_2"], responses: { rsp_2: "Rude." } },
  });
  const said = ground.querySelector("td.judged")?.textContent;
  expect(said).toContain("cannot judge (unreadable, unsafe content)");
  expect(said).toContain("FlaggedRude.");
});
