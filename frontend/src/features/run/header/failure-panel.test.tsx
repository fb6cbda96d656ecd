import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { MemoryRouter } from "react-router";
import { expect, test } from "vitest";

import { meQuery } from "@/api/session";
import type { Run, RunError, User } from "@/api/types";

import { FailurePanel } from "./failure-panel";

/** What a failed run with a checkpoint of step 40 shows to an administrator. */
function shown(cause: RunError["cause"], changes: RunError["changes"], more: Partial<Run> = {}) {
  const error = { cause, changes, sentence: "It failed.", message: "It failed.", advice: "Clone." };
  const run = {
    ...{ id: "run_a", project_id: "prj_1", allowed: [], attempt: 1, exit_code: 3 },
    ...{ checkpoint_step: 40, pruned_at: null, error, ...more },
  } as unknown as Run;
  const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  client.setQueryData(meQuery.queryKey, { role: "admin", memberships: [] } as unknown as User);
  return renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <MemoryRouter>
        <FailurePanel run={run} />
      </MemoryRouter>
    </QueryClientProvider>,
  );
}

const FROM_CHECKPOINT = "/projects/prj_1/runs/new?from=run_a&amp;step=40&amp;advised";
const FROM_START = "/projects/prj_1/runs/new?from=run_a&amp;advised";

test("a clone with advised values starts from the checkpoint where the advice says so", () => {
  expect(shown("timeout", { max_hours: 2 })).toContain(FROM_CHECKPOINT);
  const passes = { "optim.micro_batch_tokens": 2048, "optim.gradient_checkpointing": true };
  expect(shown("out_of_memory", passes)).toContain(FROM_CHECKPOINT);
});

test("a clone starts from the beginning where its changes may not fit the checkpoint", () => {
  expect(shown("non_finite_loss", { "optim.lr": 0.1 })).toContain(FROM_START);
  const fewer = { "optim.micro_batch_tokens": 2048, "rollout.prompts_per_step": 8 };
  expect(shown("out_of_memory", fewer)).toContain(FROM_START);
  const gone = { pruned_at: "2026-01-01T00:00:00Z" };
  expect(shown("out_of_memory", { "optim.micro_batch_tokens": 2048 }, gone)).toContain(FROM_START);
});
