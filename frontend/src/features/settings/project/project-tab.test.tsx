// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { ProjectTab } from "./project-tab";

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let project: object;

const ok = (body: object) => Promise.resolve(new Response(JSON.stringify(body)));
const settled = () => act(() => new Promise((resolve) => setTimeout(resolve, 5)));

function answer(path: string, init?: RequestInit): Promise<Response> {
  if (init?.method === "PATCH" && path.endsWith("/comparisons"))
    return ok({ comparisons: 3, judgments: 3 });
  if (init?.method === "PATCH") {
    project = { ...project, ...(JSON.parse(String(init.body)) as object), revision: 2 };
    return ok(project);
  }
  if (path.endsWith("/versions")) return ok({ items: [], next_cursor: null });
  return ok(project);
}

beforeEach(async () => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", answer);
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
  };
  project = {
    ...{ id: "prj_1", name: "Answers", guidelines: "", guidelines_version: 0, revision: 1 },
    ...{ cannot_judge_reasons: ["both are wrong"], criteria: [] },
    ...{ judgments_per_comparison: 2, overlap_first: 0, overlap_share: 0 },
  };
  document.body.append(ground);
  page = createRoot(ground);
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <ProjectTab projectId="prj_1" />
      </QueryClientProvider>,
    ),
  );
  for (let looks = 0; looks < 100 && ground.querySelector("form") === null; looks++)
    await settled();
});
afterEach(async () => {
  await settled();
  act(() => page.unmount());
});

async function press(name: string): Promise<void> {
  const button = [...ground.querySelectorAll("button")].find(
    ({ textContent }) => textContent.trim() === name,
  );
  expect(button, name).toBeDefined();
  act(() => button?.click());
  await settled();
}
async function want(each: string): Promise<void> {
  const input = ground.querySelector<HTMLInputElement>("input[type=number]");
  act(() => {
    const kind: object = Object.getPrototypeOf(input) as object;
    Object.getOwnPropertyDescriptor(kind, "value")?.set?.call(input, each);
    input?.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await settled();
}
const ASKED = "3 existing comparisons want 3 more judgments together.";

it("says what was asked of existing comparisons only until other numbers are saved", async () => {
  await press("Ask for as many of existing comparisons");
  await press("Ask for more judgments");
  expect(ground.textContent).toContain(ASKED);

  await want("3");
  expect(ground.textContent).toContain("Save the numbers first.");
  await press("Save");
  expect(ground.textContent).not.toContain("Save the numbers first.");
  expect(ground.textContent).not.toContain(ASKED);
});
