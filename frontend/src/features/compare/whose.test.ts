import { expect, it } from "vitest";

import { namesApart } from "./whose";

it("tells runs of one name apart by their ids, and leaves other names as they are", () => {
  const run = (id: string, name: string) => ({ id: `run_${id}aaaaaaaaaaaaaaaa`, name });
  const names = namesApart([run("k7w2", "GRPO"), run("x3m9", "GRPO"), run("b2b2", "DPO")]);
  expect([...names.values()]).toEqual(["GRPO run_k7w2", "GRPO run_x3m9", "DPO"]);
});
