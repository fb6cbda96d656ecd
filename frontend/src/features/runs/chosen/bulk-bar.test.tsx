// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { createMemoryRouter, RouterProvider } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Run } from "@/api/types";

import { BulkBar } from "./bulk-bar";

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

const runsOf = (n: number) =>
  Array.from(
    { length: n },
    (_, place) => ({ id: `r${place}`, tags: [], allowed: [], archived_at: null }) as unknown as Run,
  );

async function show(n: number) {
  const bar = (
    <BulkBar
      projectId="p"
      chosen={{ runs: runsOf(n), unlisted: [], waiting: 0, error: null }}
      mayChange
      onArchived={() => undefined}
      onClear={() => undefined}
    />
  );
  const router = createMemoryRouter([{ path: "/", element: bar }]);
  await act(async () => {
    page.render(
      <QueryClientProvider client={new QueryClient()}>
        <RouterProvider router={router} useTransitions={false} />
      </QueryClientProvider>,
    );
    await Promise.resolve();
  });
}

const button = (name: string) =>
  [...ground.querySelectorAll("button")].find(({ textContent }) => textContent === name);
const press = (name: string) =>
  act(async () => {
    button(name)?.click();
    await Promise.resolve();
  });

function write(field: HTMLInputElement | HTMLSelectElement | null, value: string, event: string) {
  if (field === null) throw new Error("there is no such field");
  const { prototype } = field.constructor as { prototype: object };
  Object.getOwnPropertyDescriptor(prototype, "value")?.set?.call(field, value);
  act(() => void field.dispatchEvent(new Event(event, { bubbles: true })));
}

/** What was sent to the service, and the number of times that the runs are refused. */
const sent: { path: string; key: string | null; body: unknown }[] = [];
let refusals = 0;

function answer(url: string, init: RequestInit = {}): Response {
  const { pathname } = new URL(url, "http://podium");
  if (init.method === undefined || init.method === "GET")
    return Response.json({ items: [], tags: [], next_cursor: null });
  const key = new Headers(init.headers).get("Idempotency-Key");
  sent.push({ path: pathname, key, body: JSON.parse(String(init.body)) as unknown });
  if (pathname.endsWith("/experiments")) return Response.json({ id: "e1" }, { status: 201 });
  if (refusals-- > 0) return Response.json({ title: "Refused", detail: "" }, { status: 409 });
  return Response.json({ changed: [] });
}

beforeEach(() => {
  // jsdom knows the element, not what it does.
  HTMLDialogElement.prototype.showModal = () => undefined;
  HTMLDialogElement.prototype.close = () => undefined;
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", (url: string, init?: RequestInit) => Promise.resolve(answer(url, init)));
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => {
  act(() => page.unmount());
  vi.unstubAllGlobals();
});

it("says how many can be compared where more are chosen", async () => {
  await show(100);
  expect(ground.textContent).toContain("Compare 100 runs");
  expect(ground.textContent).not.toContain("at most 100");
  await show(101);
  expect(ground.textContent).not.toContain("Compare 101 runs");
  expect(ground.textContent).toContain("Choose at most 100 to compare them.");
});

it("puts the chosen runs into a new experiment, and makes no second one when it tries again", async () => {
  refusals = 1;
  await show(2);
  await press("Experiment…");
  write(ground.querySelector("select"), "new", "change");
  expect(button("Create it and move the runs")?.ariaDisabled ?? "").toBe("true");
  write(ground.querySelector("dialog input"), "  KL sweep ", "input");
  await press("Create it and move the runs");
  await vi.waitFor(() => expect(sent).toHaveLength(2));
  await press("Create it and move the runs");
  await vi.waitFor(() => expect(sent).toHaveLength(4));

  const [made, moved, again] = sent;
  expect(made?.body).toEqual({ project_id: "p", name: "KL sweep" });
  expect(moved?.body).toEqual({ run_ids: ["r0", "r1"], experiment_id: "e1" });
  expect([made?.key, again?.key]).toEqual([again?.key, made?.key]);
  expect(made?.key).toBeTruthy();
  await vi.waitFor(() => expect(ground.querySelector("dialog")).toBeNull());
});
