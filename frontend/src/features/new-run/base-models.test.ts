import { expect, it } from "vitest";

import { withBases } from "@/api/models";
import type { Model } from "@/api/types";

const model = (id: string) => ({ id }) as Model;

it("base models that are older than the newest models can be chosen, each once", () => {
  const newest = ["trained_3", "base_2", "trained_2"].map(model);
  const bases = ["base_2", "base_1"].map(model);

  expect(withBases(newest, bases).map(({ id }) => id)).toEqual([
    "trained_3",
    "base_2",
    "trained_2",
    "base_1",
  ]);
});
