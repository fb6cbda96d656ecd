// @vitest-environment window
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it } from "vitest";

import { useDrag } from "./drag";
import type { Move } from "./ranking/ranking";

const PLACES = ["tier:0", "gap:1", "tray"];
/** Each place is so wide, from the left. */
const WIDTH_PX = 100;
const middleOf = (place: string) => (PLACES.indexOf(place) + 0.5) * WIDTH_PX;

let dropped: Move[] = [];
let clicks = 0;

function Bar() {
  const { dragging, handlers } = useDrag((move) => dropped.push(move));
  return (
    <>
      {[0, 1].map((card) => (
        <button key={card} {...handlers(card)} onClick={() => (clicks += 1)} />
      ))}
      {PLACES.map((place) => (
        <i key={place} data-drop={place} className={dragging?.over === place ? "over" : ""} />
      ))}
    </>
  );
}

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  // jsdom lays nothing out.
  document.elementFromPoint = (x) =>
    ground.querySelector(`[data-drop="${PLACES[Math.floor(x / WIDTH_PX)]}"]`);
  HTMLElement.prototype.setPointerCapture = () => undefined;
  document.body.append(ground);
  dropped = [];
  clicks = 0;
  page = createRoot(ground);
  act(() => page.render(<Bar />));
});
afterEach(() => act(() => page.unmount()));

type Step = readonly ["down" | "move" | "up" | "cancel", string | number, number?];

/** What a pointer does before React draws anything: the browser waits for nobody. */
function inOneTask(card: number, ...steps: readonly Step[]): void {
  const button = ground.querySelectorAll("button")[card];
  act(() => {
    for (const [kind, place, pointerId = 1] of steps) {
      const clientX = typeof place === "number" ? place : middleOf(place);
      const told = { bubbles: true, clientX, clientY: 0, button: 0, pointerId };
      button?.dispatchEvent(new PointerEvent(`pointer${kind}`, told));
    }
  });
}

const over = () => ground.querySelector(".over")?.getAttribute("data-drop") ?? null;

it("drops where the pointer is released, though no move has been drawn", () => {
  inOneTask(1, ["down", 0], ["move", "tray"], ["move", "gap:1"], ["up", "gap:1"]);
  expect(dropped).toEqual([{ kind: "drop", card: 1, tier: 1, isNewTier: true }]);
  expect(over()).toBeNull();
});

it("drops where the pointer is released, not where it was drawn last", () => {
  inOneTask(0, ["down", 0]);
  inOneTask(0, ["move", "tray"]);
  expect(over()).toBe("tray");
  inOneTask(0, ["move", "gap:1"], ["up", "tier:0"]);
  expect(dropped).toEqual([{ kind: "drop", card: 0, tier: 0, isNewTier: false }]);
});

it("begins after a few pixels, and the click that ends it is none", () => {
  const button = ground.querySelector("button");
  const click = (detail: number) =>
    act(() => button?.dispatchEvent(new MouseEvent("click", { bubbles: true, detail })));
  inOneTask(0, ["down", 10], ["move", 13], ["up", 13]);
  click(1);
  expect([dropped, clicks]).toEqual([[], 1]);
  inOneTask(0, ["down", 10], ["up", "tray"]);
  click(1);
  expect([dropped, clicks]).toEqual([[{ kind: "unrank", card: 0 }], 1]);
  click(1);
  expect(clicks).toBe(2);
  // After a finger's drag no click comes; the one of a key then is a real one.
  inOneTask(0, ["down", 10], ["up", "tray"]);
  click(0);
  expect(clicks).toBe(3);
});

it("heeds one pointer at a time, and drops nothing that is cancelled", () => {
  inOneTask(0, ["down", 0], ["move", "tray"], ["move", "gap:1", 2], ["up", "gap:1", 2]);
  expect([dropped, over()]).toEqual([[], "tray"]);
  inOneTask(0, ["cancel", "tray"], ["up", "tray"]);
  expect([dropped, over()]).toEqual([[], null]);
});
