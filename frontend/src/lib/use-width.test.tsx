// @vitest-environment window
import { createRoot } from "react-dom/client";
import { expect, it, vi } from "vitest";

import { useWidth } from "./use-width";

function Picture() {
  const [ref, width] = useWidth();
  return <div ref={ref}>{width}</div>;
}

/** The text of a place as soon as it changes: before the next task, and so before any frame. */
const nextTextOf = (ground: HTMLElement) =>
  new Promise<string | null>((told) => {
    const watcher = new MutationObserver(() => {
      watcher.disconnect();
      told(ground.textContent);
    });
    watcher.observe(ground, { childList: true, characterData: true, subtree: true });
  });

it("is the element's width from the first time that anybody can see it", async () => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", false);
  let tell = () => {};
  globalThis.ResizeObserver = class {
    constructor(told: ResizeObserverCallback) {
      tell = () => told([], this);
    }
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  const room = vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(300);
  const ground = document.createElement("div");
  const page = createRoot(ground);
  const first = nextTextOf(ground);
  page.render(<Picture />);
  expect(await first).toBe("300");

  const second = nextTextOf(ground);
  room.mockReturnValue(1200);
  tell();
  expect(await second).toBe("1200");
  page.unmount();
});
