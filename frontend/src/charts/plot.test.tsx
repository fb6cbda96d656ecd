// @vitest-environment window
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

// What jsdom lacks of a browser; uPlot asks for some of it as soon as it is loaded.
vi.hoisted(() => {
  class Nothing {
    observe() {}
    disconnect() {}
    moveTo() {}
    lineTo() {}
    rect() {}
    arc() {}
  }
  vi.stubGlobal("matchMedia", () => new EventTarget());
  vi.stubGlobal("ResizeObserver", Nothing);
  vi.stubGlobal("Path2D", Nothing);
  const pen = new Proxy(
    {},
    {
      get: (_, name) => (name === "measureText" ? () => ({ width: 8 }) : () => undefined),
      set: () => true,
    },
  );
  HTMLCanvasElement.prototype.getContext = (() => pen) as never;
});

import type { Zoom } from "./live-curves";
import { Plot, type Line } from "./plot";

const LOSS: Line = { label: "loss", colour: "--s1" };
const SMOOTHED: Line = { label: "smoothed", colour: "--s2" };
const STEPS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let zooms: Zoom[] = [];
let picks: number[] = [];
/** Where the page was told that the cursor is. */
let place: number | null = null;

/** Draws the chart with so many steps. */
async function show(lines: readonly Line[], steps = STEPS): Promise<void> {
  await act(async () => {
    page.render(
      <Plot
        data={[steps, ...lines.map(() => steps)]}
        lines={lines}
        height={200}
        isLog={false}
        axis="step"
        syncKey="one"
        range={null}
        theme="light"
        label="Loss"
        onZoom={(zoom) => zooms.push(zoom)}
        onPick={(x) => picks.push(x)}
        onCursor={(told) => (place = told)}
      />,
    );
    await new Promise((drawn) => setTimeout(drawn));
  });
}

const over = () => ground.querySelector<HTMLElement>(".u-over") ?? ground;
const mouse = (type: string, clientX: number, target: EventTarget = over()) =>
  act(async () => {
    const event = new MouseEvent(type, { clientX, clientY: 50, button: 0, bubbles: true });
    // Of jsdom every event is one without a movement, which uPlot leaves out.
    Object.defineProperty(event, "movementX", { value: 1 });
    target.dispatchEvent(event);
    await new Promise((drawn) => setTimeout(drawn));
  });
/** How wide the selection is. */
const selectedPx = () =>
  parseFloat(ground.querySelector<HTMLElement>(".u-select")?.style.width ?? "") || 0;

beforeEach(async () => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  vi.spyOn(Element.prototype, "clientWidth", "get").mockReturnValue(600);
  document.body.append(ground);
  [zooms, picks, place] = [[], [], null];
  page = createRoot(ground);
  await show([LOSS]);
});
afterEach(() => {
  act(() => page.unmount());
  vi.restoreAllMocks();
});

describe("a selection that the mouse drags", () => {
  it("outlasts a new point and a new line, which come when it is made", async () => {
    await mouse("mousedown", 100);
    await mouse("mousemove", 180);
    const before = over();
    await show([LOSS], [...STEPS, 10]);
    await show([LOSS, SMOOTHED], [...STEPS, 10]);
    expect(over()).toBe(before);
    expect(selectedPx()).toBe(80);

    await mouse("mousemove", 300);
    expect(selectedPx()).toBe(200);
    await mouse("mouseup", 300, document);
    expect(zooms).toHaveLength(1);
    const [from, to] = zooms[0] ?? [0, 0];
    // Of the steps that were under the mouse: 0 to 9.
    expect(to - from).toBeCloseTo((9 * 200) / parseFloat(before.style.width), 6);
    expect(over()).not.toBe(before);
    expect(ground.querySelectorAll(".u-over")).toHaveLength(1);
  });

  it("leaves the cursor at its point, wherever that stands in what came meanwhile", async () => {
    await mouse("mousemove", 300);
    const before = place ?? 0;
    expect(before).toBeGreaterThan(3);
    await mouse("mousedown", 300);
    await show([LOSS], STEPS.slice(2));
    expect(place).toBe(before - 2);
    await mouse("mousemove", 0);
    expect(place).toBeNull();
    await mouse("mousemove", 300);
    expect(place).toBe(before - 2);
    await mouse("mouseup", 300, document);
  });

  it.each([
    ["a menu opens over it", () => mouse("contextmenu", 180)],
    [
      "another window gets the focus",
      () => act(() => void window.dispatchEvent(new Event("blur"))),
    ],
  ])("is over where %s, which the mouse does not tell", async (_, lose) => {
    await mouse("mousedown", 100);
    await mouse("mousemove", 180);
    const before = over();
    await show([LOSS, SMOOTHED]);
    expect(over()).toBe(before);
    await lose();
    expect(over()).not.toBe(before);
    await mouse("mouseup", 300, document);
    expect(zooms).toEqual([]);

    await show([LOSS]);
    await mouse("mousedown", 100);
    await mouse("mousemove", 180);
    await mouse("mouseup", 180, document);
    expect(zooms).toHaveLength(1);
  });

  it("is none where a click falls together with a new line: that picks a point", async () => {
    await mouse("mousemove", 100);
    await mouse("mousedown", 100);
    await show([LOSS, SMOOTHED]);
    act(() => {
      const place = { clientX: 100, clientY: 50, button: 0 };
      document.dispatchEvent(new MouseEvent("mouseup", place));
      over().dispatchEvent(new MouseEvent("click", place));
    });
    expect(zooms).toEqual([]);
    expect(picks).toHaveLength(1);
  });
});
