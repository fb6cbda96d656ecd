import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import { experimentQuery, experimentsQuery } from "@/api/experiments";
import type { Experiment, Run } from "@/api/types";

import { Cell } from "./cells";

const NOTHING_ELSE = { headline: undefined, isVerdictLost: false, experiment: undefined };

function shown(experimentId: string | null, client = new QueryClient()): string {
  const run = { project_id: "project_a", experiment_id: experimentId } as Run;
  return renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <Cell {...NOTHING_ELSE} column="experiment" run={run} />
    </QueryClientProvider>,
  );
}

test("a run of an archived experiment is not told as one of none", () => {
  const client = new QueryClient();
  client.setQueryData(experimentsQuery("project_a").queryKey, { items: [], next_cursor: null });
  const archived = { name: "Old question", archived_at: "2026-11-01T00:00:00Z" } as Experiment;
  client.setQueryData(experimentQuery("exp_old").queryKey, archived);

  expect(shown("exp_old", client)).toContain("Old question");
  expect(shown("exp_old", client)).toContain("archived");
  expect(shown("exp_old")).toContain("…");
  expect(shown(null)).toContain("–");
});

test("a verdict that did not load is not told as one that is still to come", () => {
  const run = { verdict: null, finished_at: "2026-11-01T00:00:00Z" } as Run;
  const verdict = (isVerdictLost: boolean) =>
    renderToStaticMarkup(
      <Cell {...NOTHING_ELSE} column="verdict" run={run} isVerdictLost={isVerdictLost} />,
    );
  expect(verdict(true)).toContain("verdict did not load");
  expect(verdict(false)).toContain("not judged yet");
});
