// @vitest-environment window
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { SearchField } from "./search-field";

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let asked: string[];

const onSearch = (q: string) => void asked.push(q);
const show = (q: string) => act(() => page.render(<SearchField q={q} onSearch={onSearch} />));
const field = () => ground.querySelector("input");

function type(text: string) {
  act(() => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(field(), text);
    field()?.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

const pass = (ms: number) => act(() => vi.advanceTimersByTime(ms));

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.useFakeTimers();
  asked = [];
  document.body.append(ground);
  page = createRoot(ground);
  show("");
});
afterEach(() => {
  act(() => page.unmount());
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("asks once for what is typed without a pause", () => {
  for (const text of ["r", "re", "rew"]) {
    type(text);
    pass(200);
  }
  expect([asked, field()?.value]).toEqual([[], "rew"]);
  pass(200);
  expect(asked).toEqual(["rew"]);
  show("rew");
  pass(1000);
  expect(asked).toEqual(["rew"]);
});

it("asks at once at Enter", () => {
  type("rew");
  act(() => {
    field()?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  });
  expect(asked).toEqual(["rew"]);
  pass(1000);
  expect(asked).toEqual(["rew"]);
});

it("keeps what is typed while the address comes to what was asked", () => {
  type("re");
  pass(300);
  type("rew");
  show("re");
  expect(field()?.value).toBe("rew");
  pass(300);
  expect(asked).toEqual(["re", "rew"]);
});

it("shows what the address says when it was changed elsewhere", () => {
  type("re");
  show("gold");
  expect(field()?.value).toBe("gold");
  pass(1000);
  expect(asked).toEqual([]);
});
