// @vitest-environment window
import { useRef } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { describe, expect, it, vi } from "vitest";

import { drawnOf, useWindow } from "./use-window";

describe("the rows that are drawn", () => {
  it("are all of a short table", () => {
    expect(drawnOf(200, 40, 4000, 800)).toEqual({ from: 0, to: 200, before: 0, behind: 0 });
  });

  it.each([0, 1, 399, 4000, 399_000, 500_000, -50])("fill the screen at %d px", (abovePx) => {
    const drawn = drawnOf(10_000, 40, abovePx, 800);
    expect(drawn.to - drawn.from).toBeLessThan(90);
    expect(drawn.before).toBe(drawn.from * 40);
    expect(drawn.before + (drawn.to - drawn.from) * 40 + drawn.behind).toBe(400_000);
    const shown = Math.min(Math.max(0, abovePx), 399_000);
    expect(drawn.before).toBeLessThanOrEqual(shown);
    expect(drawn.to * 40).toBeGreaterThanOrEqual(Math.min(400_000, shown + 800));
  });
});

function Rows({ count }: { count: number }) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { from, to } = useWindow(count, body);
  return (
    <table>
      <tbody ref={body}>
        <tr>
          <td>{`${from} to ${to}`}</td>
        </tr>
      </tbody>
    </table>
  );
}

it("draws the rows on screen of a table that grows long while somebody is far down in it", () => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", false);
  const place = { top: -4400 } as DOMRect;
  vi.spyOn(HTMLElement.prototype, "getBoundingClientRect").mockReturnValue(place);
  const ground = document.createElement("div");
  const page = createRoot(ground);
  flushSync(() => page.render(<Rows count={150} />));
  expect(ground.textContent).toBe("0 to 150");

  flushSync(() => page.render(<Rows count={400} />));
  const [from, to] = (ground.textContent ?? "").split(" to ").map(Number);
  expect(from).toBeLessThan(100);
  expect(to).toBeGreaterThan(100 + innerHeight / 44);
  page.unmount();
});

it("draws more rows in a window that becomes higher", () => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", false);
  vi.spyOn(HTMLElement.prototype, "getBoundingClientRect").mockReturnValue({ top: 0 } as DOMRect);
  const ground = document.createElement("div");
  const page = createRoot(ground);
  flushSync(() => page.render(<Rows count={400} />));

  vi.stubGlobal("innerHeight", 4400);
  flushSync(() => dispatchEvent(new Event("resize")));
  vi.unstubAllGlobals();
  expect(ground.textContent).toBe("0 to 130");
  page.unmount();
});
