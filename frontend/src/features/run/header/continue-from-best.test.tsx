import { renderToStaticMarkup } from "react-dom/server";
import { MemoryRouter } from "react-router";
import { expect, test } from "vitest";

import { ContinueFromBest } from "./run-header";

function shown(best: number | null, newest: number | null): string {
  const run = {
    id: "run_a",
    project_id: "project_a",
    best_checkpoint_step: best,
    checkpoint_step: newest,
  };
  return renderToStaticMarkup(
    <MemoryRouter>
      <ContinueFromBest run={run} />
    </MemoryRouter>,
  );
}

test("training continues from the best checkpoint, not from the newest", () => {
  const link = shown(8, 16);

  expect(link).toContain("/projects/project_a/runs/new?from=run_a&amp;step=8");
  expect(link).toContain("Continue from step 8 (best by its own evaluation) as a new run…");
});

test("a checkpoint that is both, or the newest where none is the best, is not called best", () => {
  for (const link of [shown(16, 16), shown(null, 16)]) {
    expect(link).toContain("step=16");
    expect(link).toContain("Continue from step 16 as a new run…");
  }
});

test("a run without a checkpoint has nothing to continue from", () => {
  expect(shown(null, null)).toBe("");
});
