// @vitest-environment window
import { expect, it, vi } from "vitest";

import { findNothingAndLeaveMuch } from "./leftovers";

vi.mock("@/lib/clipboard", () => ({ copyText: "mocked" }));

it("finds nothing of the file before it", async () => {
  expect((await import("@/lib/random-id")).randomId).toBeTypeOf("function");
  await findNothingAndLeaveMuch();
});
