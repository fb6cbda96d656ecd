// @vitest-environment window
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it } from "vitest";

import { PendingButton } from "./pending-button";

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  document.body.append(ground);
  page = createRoot(ground);
  act(() =>
    page.render(
      <PendingButton isPending={false} onPress={() => undefined}>
        Revoke
      </PendingButton>,
    ),
  );
});
afterEach(() => {
  act(() => page.unmount());
  ground.remove();
});

/** Whether the browser goes on to press the button. */
function presses(key: string, repeat: boolean): boolean {
  const event = new KeyboardEvent("keydown", { key, repeat, bubbles: true, cancelable: true });
  return ground.querySelector("button")?.dispatchEvent(event) ?? false;
}

it("is pressed once by a key that is held down, also on the row that comes next", () => {
  expect(presses("Enter", false)).toBe(true);
  expect(presses("Enter", true)).toBe(false);
});
it("leaves other keys to the page", () => {
  expect(presses("ArrowDown", true)).toBe(true);
});
