// @vitest-environment jsdom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, it } from "vitest";

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

it("is not skipped by an Enter that is held since it sent the answer", () => {
  globalThis.IS_REACT_ACT_ENVIRONMENT = true;
  let left = 0;
  const place = document.body.appendChild(document.createElement("div"));
  const root = createRoot(place);
  act(() =>
    root.render(
      <Feedback task={task} ranking={start(2)} feedback={feedback} onNext={() => (left += 1)} />,
    ),
  );
  const press = (on: EventTarget, repeat: boolean) => {
    const event = new KeyboardEvent("keydown", {
      key: "Enter",
      repeat,
      bubbles: true,
      cancelable: true,
    });
    on.dispatchEvent(event);
    return event;
  };

  // A browser clicks the button that has the focus, unless the key is taken.
  expect(press(document.activeElement ?? place, true).defaultPrevented).toBe(true);
  press(document.body, true);
  expect(left).toBe(0);
  press(document.body, false);
  expect(left).toBe(1);
  act(() => root.unmount());
});
