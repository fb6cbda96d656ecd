import { expect, it } from "vitest";

import { onAxis, viewOf } from "./view";

it("of curves on another axis has their axis, and no part of the one that is asked for", () => {
  const asked = viewOf(new URLSearchParams("x=tokens&zoom=1000~2000&smooth=0&scale=log"));
  expect(onAxis(asked, "step")).toEqual({ ...asked, axis: "step", zoom: null });
  expect(onAxis(asked, "tokens")).toBe(asked);
});
