// @vitest-environment window
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { dropAllUnseen, tellUnseen } from "@/lib/unseen";

import { UnseenRefusals } from "./unseen-refusals";

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  dropAllUnseen();
  page = createRoot(ground);
  act(() => page.render(<UnseenRefusals />));
});
afterEach(() => act(() => page.unmount()));

const verbs = () => [...ground.querySelectorAll("button")].map(({ textContent }) => textContent);
const press = (name: string) =>
  act(() =>
    [...ground.querySelectorAll("button")].find(({ textContent }) => textContent === name)?.click(),
  );

it("offers another try of what was refused, where that is of use", () => {
  const again = vi.fn();
  const error = new Error("The network is away.");
  act(() => tellUnseen({ what: "The notes were not saved.", error, again }));
  expect(verbs()).toEqual(["Try again", "Dismiss"]);
  press("Try again");
  expect(again).toHaveBeenCalledOnce();
  expect(ground.textContent).toBe("");

  act(() => tellUnseen({ what: "No links were made.", error, again, isOfUse: () => false }));
  expect(ground.textContent).toContain("No links were made.");
  expect(verbs()).toEqual(["Dismiss"]);
});

it("says what was done and cannot be shown, until that is dismissed", () => {
  act(() => tellUnseen({ what: "Two links were renewed.", error: null, again: null }));
  expect(ground.querySelector("[role=alert]")?.textContent).toContain("Two links were renewed.");
  expect(verbs()).toEqual(["Dismiss"]);
  press("Dismiss");
  expect(ground.textContent).toBe("");
});
