// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { PracticeFeedback, PracticeTask } from "@/api/types";

import { start } from "../ranking/ranking";
import { Feedback } from "./feedback";

declare global {
  var IS_REACT_ACT_ENVIRONMENT: boolean;
}

const task = { comparison: { id: "c", responses: [] } } as unknown as PracticeTask;
const feedback = {
  agreed: 0,
  pairs: 1,
  expected: [],
  explanation: "",
  state: { answered: 1, comparisons: 3, passed_at: null, next: null },
} as unknown as PracticeFeedback;

let root: ReturnType<typeof createRoot>;
let left: number;
let now: number;

beforeEach(() => {
  globalThis.IS_REACT_ACT_ENVIRONMENT = true;
  [left, now] = [0, 1000];
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const place = document.body.appendChild(document.createElement("div"));
  root = createRoot(place);
  show(task, feedback);
});
afterEach(() => {
  act(() => root.unmount());
  vi.restoreAllMocks();
});

function show(shown: PracticeTask, said: PracticeFeedback): void {
  const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  act(() =>
    root.render(
      <QueryClientProvider client={client}>
        <Feedback task={shown} ranking={start(2)} feedback={said} onNext={() => (left += 1)} />
      </QueryClientProvider>,
    ),
  );
}

const next = () => document.querySelector<HTMLButtonElement>("button.primary");

/** A browser clicks the button that has the focus, unless the key is taken. */
function press(key: string, init: KeyboardEventInit = {}): void {
  const target = document.activeElement ?? document.body;
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...init });
  target.dispatchEvent(event);
  if (!event.defaultPrevented && target instanceof HTMLButtonElement) target.click();
}

it("is not skipped by an Enter that is held since it sent the answer", () => {
  now += 2000;
  press("Enter", { repeat: true });
  expect(left).toBe(0);
  press("Enter");
  expect(left).toBe(1);
});

// The answer comes within the time of a double press.
it("is not skipped by the second of two Enters that sent the answer, wherever the focus is", () => {
  now += 150;
  press("Enter");
  act(() => next()?.focus());
  press("Enter");
  expect(left).toBe(0);
  now += 300;
  press("Enter");
  expect(left).toBe(1);
});

it("is read from its headline, where the space bar scrolls", () => {
  expect(document.activeElement?.textContent).toBe("Not as expected");
  press(" ");
  expect(left).toBe(0);
});

it("is not skipped by the second click of two that sent the answer", () => {
  const click = (detail: number) =>
    next()?.dispatchEvent(new MouseEvent("click", { detail, bubbles: true }));
  act(() => void click(2));
  expect(left).toBe(0);
  act(() => void click(1));
  expect(left).toBe(1);
});

it("shows prompt and responses as they were written, by a button or its key", () => {
  const responses = [
    { id: "rsp_a", content: "**This.**" },
    { id: "rsp_b", content: "That." },
  ];
  const prompt = { id: "prm_1", messages: [{ role: "user", content: "*Which?*" }] };
  const expected = [{ criterion: "", tiers: [["rsp_b"], ["rsp_a"]], unranked: [] }];
  show(
    { comparison: { id: "c", prompt, responses } } as unknown as PracticeTask,
    { ...feedback, expected } as unknown as PracticeFeedback,
  );
  const written = () =>
    [...document.querySelectorAll(".raw")].map(({ textContent }) => textContent);
  expect(written()).toEqual([]);
  act(() => press("r"));
  expect(written()).toEqual(["*Which?*", "That.", "**This.**"]);
  const button = document.querySelector<HTMLButtonElement>("button[aria-pressed=true]");
  expect(button?.textContent).toBe(" Raw text R");
  act(() => button?.click());
  expect(written()).toEqual([]);
});
