// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { createBrowserRouter, RouterProvider } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { runsQuery } from "@/api/runs";

import { AddRun } from "./add-run";

// A library of charts asks for it as it is loaded.
vi.hoisted(() => vi.stubGlobal("matchMedia", () => new EventTarget()));

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

const run = (id: string) => ({
  ...{ id, name: `run ${id}`, method: "sft", config: {}, state: "queued" },
  created_at: "2026-11-01T11:30:00Z",
});

async function open(path: string) {
  history.replaceState(null, "", path);
  const client = new QueryClient({
    defaultOptions: { queries: { retry: false, staleTime: Infinity } },
  });
  const items = ["a", "b", "c"].map(run);
  for (const limit of [9, 10])
    client.setQueryData(runsQuery({ project_id: "p", q: "", limit }).queryKey, { items } as never);
  const router = createBrowserRouter([
    { path: "/projects/:projectId/compare", element: <AddRun /> },
  ]);
  await act(async () => {
    page.render(
      <QueryClientProvider client={client}>
        <RouterProvider router={router} useTransitions={false} />
      </QueryClientProvider>,
    );
    await Promise.resolve();
  });
}

const buttons = () => [...ground.querySelectorAll("button")];
const focus = () => act(() => ground.querySelector("input")?.focus());
const press = (name: string) =>
  act(() =>
    buttons()
      .find(({ textContent }) => textContent === name)
      ?.click(),
  );

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => {
  act(() => page.unmount());
  vi.unstubAllGlobals();
});

it("lists the runs that are not compared, and puts the chosen one into the address", async () => {
  await open("/projects/p/compare?runs=a&x=tokens");
  expect(buttons()).toEqual([]);
  focus();
  const names = buttons().map(({ textContent }) => textContent);
  expect(names).toEqual(["Add run b", "Add run c", "Close the list"]);

  press("Add run c");
  const now = new URLSearchParams(location.search);
  expect([now.get("runs"), now.get("x")]).toEqual(["a,c", "tokens"]);
  expect(buttons()[0]?.textContent).toBe("Add run b");
});

it("adds none beyond what can be compared", async () => {
  const ids = Array.from({ length: 100 }, (_, n) => `r${n}`);
  await open(`/projects/p/compare?runs=${ids.join()}`);

  expect(ground.querySelector("input")).toBeNull();
  expect(ground.textContent).toBe(
    "100 runs are compared, and no more can be. Leave one out to add another.",
  );
});

it("says how many to leave out where the address names more than can be compared", async () => {
  const ids = Array.from({ length: 104 }, (_, n) => `r${n}`);
  await open(`/projects/p/compare?runs=${ids.join()}`);

  expect(ground.textContent).toBe(
    "100 runs are compared, and no more can be. The address names 104: leave 5 out to add another.",
  );
});
