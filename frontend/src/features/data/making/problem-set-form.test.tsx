// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { createBrowserRouter, RouterProvider } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { jobQuery } from "@/api/projects";
import { meQuery } from "@/api/session";
import type { User } from "@/api/types";

import { ProblemSetForm } from "./problem-set-form";

const IMPORT = "/projects/p/data/import";
const running = {
  ...{ id: "job_1", kind: "problem_set", project_id: "p", state: "running" },
  ...{ progress: { done: 1, total: 4 }, result: null, error: null },
};

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let client: QueryClient;
let asked: string[];
/** What the service says of the job. */
let job: object;
let status: number;

const answer = (init?: RequestInit) => {
  asked.push(init?.method ?? "GET");
  return new Response(JSON.stringify(job), { status: init?.method === "POST" ? 202 : status });
};
const settled = () => act(() => new Promise((resolve) => setTimeout(resolve)));
/** As soon as it is so. */
const until = (check: () => void) =>
  vi.waitFor(async () => {
    await settled();
    check();
  });

async function open(path: string): Promise<void> {
  history.replaceState(null, "", path);
  const router = createBrowserRouter([{ path: IMPORT, element: <ProblemSetForm projectId="p" /> }]);
  page = createRoot(ground);
  act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <RouterProvider router={router} useTransitions={false} />
      </QueryClientProvider>,
    ),
  );
  await settled();
}

const button = (words: string) =>
  [...ground.querySelectorAll("button")].find(({ textContent }) => textContent === words);
async function press(words: string): Promise<void> {
  act(() => button(words)?.click());
  await settled();
}
const bar = () => ground.querySelector("[role=progressbar]");

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", async (_: unknown, init?: RequestInit) => Promise.resolve(answer(init)));
  [asked, job, status] = [[], running, 200];
  client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  client.setQueryData(meQuery.queryKey, { id: "u", memberships: [] } as unknown as User);
  sessionStorage.clear();
  document.body.append(ground);
});
afterEach(() => {
  act(() => page.unmount());
  vi.unstubAllGlobals();
});

it("is being made as soon as the service has the job: a second click begins no other", async () => {
  await open(IMPORT);
  vi.stubGlobal("fetch", (_: unknown, init?: RequestInit) =>
    init?.method === "POST" ? Promise.resolve(answer(init)) : new Promise(() => undefined),
  );
  await press("Make and import");
  await until(() => expect(location.search).toBe("?made=job_1"));
  await press("Making…");
  expect(asked).toEqual(["POST"]);
});

it("is found again by whoever comes back without its address, until it is dismissed", async () => {
  await open(IMPORT);
  await press("Make and import");
  await until(() => expect(location.search).toBe("?made=job_1"));
  act(() => page.unmount());
  job = { ...running, state: "cancelled" };
  client.removeQueries({ queryKey: jobQuery("job_1").queryKey });

  await open(IMPORT);
  await until(() => expect(ground.textContent).toContain("No problem was imported."));
  expect(location.search).toBe("?made=job_1");
  await press("Dismiss");
  expect(ground.textContent).not.toContain("No problem was imported.");
  act(() => page.unmount());
  await open(IMPORT);
  expect(ground.textContent).not.toContain("No problem was imported.");
});

it("leads to the field that the service refuses", async () => {
  await open(IMPORT);
  const body = JSON.stringify({ title: "Invalid", errors: [{ path: "seed", message: "too odd" }] });
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(body, { status: 422 })));
  await press("Make and import");
  await until(() => expect(document.activeElement?.getAttribute("aria-invalid")).toBe("true"));
  expect(document.activeElement?.getAttribute("inputmode")).toBe("numeric");
});

it("says when a job can no longer be seen, and lets another one begin", async () => {
  await open(`${IMPORT}?made=job_1`);
  await until(() => expect(bar()).not.toBeNull());
  job = { title: "Forbidden", detail: "you are no member of the project" };
  status = 403;
  await act(() => client.refetchQueries({ queryKey: jobQuery("job_1").queryKey }));
  await until(() => expect(bar()).toBeNull());
  expect(ground.querySelector("[role=alert]")?.textContent).toContain("no member");
  expect(button("Make and import")).toBeDefined();
  await press("Dismiss");
  expect(ground.querySelector("[role=alert]")).toBeNull();
});

it.each([{ kind: "freeze_snapshot" }, { project_id: "other" }])(
  "shows no job of another kind or project: %o",
  async (other) => {
    job = { ...running, ...other, state: "succeeded", result: { name: "s" } };
    await open(`${IMPORT}?made=job_1`);
    await until(() => expect(client.getQueryData(jobQuery("job_1").queryKey)).toBeDefined());
    expect(ground.querySelector("[role=alert], .note, [role=progressbar]")).toBeNull();
    expect(button("Make and import")).toBeDefined();
  },
);
