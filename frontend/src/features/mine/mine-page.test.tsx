// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { createMemoryRouter, RouterProvider } from "react-router";
import { afterEach, beforeEach, expect, it } from "vitest";

import { ownJudgmentPages } from "@/api/judgments";
import type { OwnJudgment } from "@/api/types";

import { MinePage } from "./mine-page";

const judgment = (revision: number, earlier: number): OwnJudgment => {
  const said = { tiers: [["rsp_a"], ["rsp_b"]], unranked: [], verdict: "ranked", reasons: [] };
  const common = {
    ...said,
    rankings: [],
    flags: [],
    comment: "",
    created_at: "2026-11-01T12:00:00Z",
  };
  return {
    ...common,
    id: "jdg_1",
    assignment_id: "as_1",
    revision,
    review_reason: null,
    comparison: {
      id: "cmp_1",
      prompt: { id: "prm_1", messages: [{ role: "user", content: "*Which?*" }] },
      responses: [
        { id: "rsp_a", content: "**This.**" },
        { id: "rsp_b", content: "That." },
      ],
    },
    earlier: Array.from({ length: earlier }, (_, n) => ({ ...common, revision: revision - 1 - n })),
  } as unknown as OwnJudgment;
};

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => act(() => page.unmount()));

function open(shown: OwnJudgment): void {
  const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  client.setQueryData(ownJudgmentPages("prj_1", "").queryKey as readonly unknown[], {
    pages: [{ items: [shown], next_cursor: null }],
    pageParams: [null],
  });
  const router = createMemoryRouter(
    [{ path: "/projects/:projectId/mine", element: <MinePage /> }],
    { initialEntries: ["/projects/prj_1/mine"] },
  );
  act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>,
    ),
  );
}

const written = () => [...ground.querySelectorAll(".raw")].map(({ textContent }) => textContent);
const press = (words: string) =>
  act(() =>
    [...ground.querySelectorAll("button")]
      .find(({ textContent }) => textContent.includes(words))
      ?.click(),
  );
const type = (key: string) =>
  act(() => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })));

it("shows the texts as they were written, by a button or its key", () => {
  open(judgment(1, 0));
  press("Show the prompt and 2 responses");
  expect(written()).toEqual([]);
  press("Raw text");
  expect(written()).toEqual(["*Which?*", "**This.**", "That."]);
  type("r");
  expect(written()).toEqual([]);
});

it.each([
  [3, 2, "2 earlier revisions"],
  [21, 20, "20 earlier revisions"],
  [35, 20, "34 earlier revisions, the last 20 of them shown"],
])("counts what was said before revision %i", (revision, earlier, words) => {
  open(judgment(revision, earlier));
  expect(ground.querySelector(".mine-earlier summary")?.textContent).toBe(words);
});
