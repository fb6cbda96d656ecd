import { expect, test } from "vitest";

import { Problem } from "@/api/client";

import { shownError } from "./shown-error";

test("a page whose code did not come is told as that, not as an error in the page", () => {
  const messages = [
    "Failed to fetch dynamically imported module: http://podium/assets/now-page-1.js",
    "error loading dynamically imported module: http://podium/assets/now-page-1.js",
    "Importing a module script failed.",
    "Unable to preload CSS for /assets/now-page-1.css",
  ];

  for (const message of messages)
    expect(shownError(new TypeError(message))).toBeInstanceOf(Problem);
  const broken = new TypeError("x is undefined");
  expect(shownError(broken)).toBe(broken);
});
