// @vitest-environment window
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, expect, it, vi } from "vitest";

import { Choice } from "./choice";

function shown(n: number) {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  const options = Array.from({ length: n }, (_, at) => [`m${at}`, `Measure ${at}`] as const);
  const chosen: string[] = [];
  const ground = document.createElement("div");
  const page = createRoot(ground);
  act(() =>
    page.render(
      <Choice
        label="Reward"
        value="m1"
        options={options}
        onChange={(value) => chosen.push(value)}
      />,
    ),
  );
  unmount = () => act(() => page.unmount());
  return { ground, chosen };
}

let unmount = () => {};

afterEach(() => {
  unmount();
  vi.unstubAllGlobals();
});

it("a few words are buttons side by side", () => {
  const { ground, chosen } = shown(4);
  const buttons = [...ground.querySelectorAll("button")];
  expect(buttons.map((one) => one.getAttribute("aria-pressed"))).toEqual([
    "false",
    "true",
    "false",
    "false",
  ]);
  act(() => buttons[2]?.click());
  expect(chosen).toEqual(["m2"]);
});

it("more words are a list, which no card is too narrow for", () => {
  const { ground, chosen } = shown(5);
  expect(ground.querySelector("button")).toBeNull();
  const list = ground.querySelector("select");
  expect(list?.getAttribute("aria-label")).toBe("Reward");
  expect(list?.value).toBe("m1");
  if (list === null) return;
  act(() => {
    list.value = "m4";
    list.dispatchEvent(new Event("change", { bubbles: true }));
  });
  expect(chosen).toEqual(["m4"]);
});
