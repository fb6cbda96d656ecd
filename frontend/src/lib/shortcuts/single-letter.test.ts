// @vitest-environment window
import { act, createElement } from "react";
import { createRoot } from "react-dom/client";
import { beforeEach, expect, test } from "vitest";

import { hasSingleLetters, isSingleLetter, turnSingleLetters } from "./single-letter";
import { useKeys } from "./use-keys";

const press = (key: string, more: KeyboardEventInit = {}) =>
  new KeyboardEvent("keydown", { key, bubbles: true, ...more });

beforeEach(() => localStorage.clear());

test("a letter, a digit and a sign are single; Enter, the space bar and Ctrl with a key are not", () => {
  expect(
    ["a", "Z", "7", "?", "ж", "=", "😀"].map((key) => isSingleLetter(press(key))),
  ).not.toContain(false);
  const others = ["Enter", " ", "Escape", "ArrowUp", "Backspace"].map((key) => press(key));
  expect([...others, press("z", { ctrlKey: true })].some(isSingleLetter)).toBe(false);
  // AltGr with a key types a sign.
  expect(isSingleLetter(press("{", { ctrlKey: true, altKey: true }))).toBe(true);
});

test("a page gets no single letters once they are off, and all other keys", () => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  let taken: string[] = [];
  function Page() {
    useKeys(({ key }) => taken.push(key) > 0);
    return null;
  }
  const page = createRoot(document.createElement("div"));
  act(() => page.render(createElement(Page)));
  const pressAll = () => {
    taken = [];
    for (const key of ["a", "?", "Enter", "ArrowUp", " "]) document.body.dispatchEvent(press(key));
    document.body.dispatchEvent(press("z", { ctrlKey: true }));
    return taken;
  };
  expect(pressAll()).toEqual(["a", "?", "Enter", "ArrowUp", " ", "z"]);
  turnSingleLetters(false);
  expect(hasSingleLetters()).toBe(false);
  expect(pressAll()).toEqual(["Enter", "ArrowUp", " ", "z"]);
  turnSingleLetters(true);
  expect(pressAll()).toHaveLength(6);
  act(() => page.unmount());
});
