// @vitest-environment window
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { CopyButton } from "./copy-button";
import { Copyable } from "./copyable";

vi.mock("@/lib/clipboard", () => ({ copyText: () => Promise.resolve(true) }));

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  vi.useFakeTimers();
  page = createRoot(ground);
});
afterEach(() => {
  act(() => page.unmount());
  vi.useRealTimers();
});

const button = () => ground.querySelector("button");
const press = () => act(async () => button()?.click());
const pass = (ms: number) => act(() => vi.advanceTimersByTime(ms));

it.each([
  ["a text", <CopyButton key="text" text="all" label="Copy all" />, "Copied", "Copy"],
  ["an id", <Copyable key="id" text="sha256:abcdef" shown="abc" label="hash" />, "copied", "abc"],
])("says of a second copy of %s as long as of the first", async (_, it, said, rest) => {
  act(() => page.render(it));
  await press();
  pass(1400);
  await press();
  pass(1400);
  expect(button()?.textContent).toBe(said);
  pass(700);
  expect(button()?.textContent).toBe(rest);
});
