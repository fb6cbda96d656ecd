// @vitest-environment window
import { expect, it, vi } from "vitest";

import { findNothingAndLeaveMuch } from "./leftovers";

vi.mock("@/lib/random-id", () => ({ randomId: "mocked" }));

it("finds nothing of the file before it", async () => {
  expect((await import("@/lib/clipboard")).copyText).toBeTypeOf("function");
  await findNothingAndLeaveMuch();
});
