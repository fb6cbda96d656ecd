// @vitest-environment window
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Assignment } from "@/api/types";

import type { AssignmentQueue } from "../assignment-queue";
import { OfflineNotes, type useOffline } from "./buttons";

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  sessionStorage.clear();
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => act(() => page.unmount()));

const HOUR = 3_600_000;
const now = Date.now();
const lease = (id: number, hours: number) =>
  ({ id: `as_${id}`, expires_at: new Date(now + hours * HOUR).toISOString() }) as Assignment;

// Nothing is being taken or given back, as after a reload.
const idle = { taking: { error: null }, returning: { error: null } };
const show = (offline: Assignment[]) =>
  act(() =>
    page.render(
      <OfflineNotes
        queue={{ offline } as unknown as AssignmentQueue}
        asked={idle as unknown as ReturnType<typeof useOffline>}
      />,
    ),
  );
const isTold = () => ground.textContent.includes("Keep this tab open");
const dismiss = () => act(() => ground.querySelector("button")?.click());

it("warns for as long as something is offline, however little, until that is dismissed", () => {
  show([]);
  expect(isTold()).toBe(false);
  const taken = [1, 2, 3, 4, 5, 6].map((id) => lease(id, 8));
  show(taken);
  expect(isTold()).toBe(true);
  show(taken.slice(1));
  expect(isTold()).toBe(true);
  dismiss();
  expect(isTold()).toBe(false);
  show(taken.slice(2));
  expect(isTold()).toBe(false);
});

it("hands the focus on to the heading when it is dismissed", async () => {
  const around = document.createElement("main");
  around.innerHTML = "<h1>Rank</h1>";
  ground.replaceWith(around);
  around.append(ground);
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
  show([lease(1, 8)]);
  act(() => ground.querySelector("button")?.focus());
  dismiss();
  await act(() => new Promise((resolve) => setTimeout(resolve)));
  expect(document.activeElement?.textContent).toBe("Rank");
  around.replaceWith(ground);
  vi.restoreAllMocks();
});

it("stays dismissed on this tab until others are taken", () => {
  show([lease(1, 8)]);
  dismiss();
  act(() => page.unmount());
  page = createRoot(ground);
  show([lease(1, 8)]);
  expect(isTold()).toBe(false);
  show([lease(1, 8), lease(2, 9)]);
  expect(isTold()).toBe(true);
});
