import { expect, it } from "vitest";

import type { Run } from "@/api/types";

import { listedOnce } from "./listed";

it("lists a run once that moved back in the order before the next page was loaded", () => {
  const run = (id: string, step: number) => ({ id, progress: { step } }) as unknown as Run;
  const pages = [
    [run("a", 1), run("b", 2)],
    [run("a", 3), run("c", 4)],
  ];
  expect(listedOnce(pages)).toEqual([run("a", 3), run("b", 2), run("c", 4)]);
});
