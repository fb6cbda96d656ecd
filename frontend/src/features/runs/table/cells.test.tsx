import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import { experimentQuery, experimentsQuery } from "@/api/experiments";
import type { Experiment, Run } from "@/api/types";

import { Cell } from "./cells";

function shown(experimentId: string | null, client = new QueryClient()): string {
  const run = { project_id: "project_a", experiment_id: experimentId } as Run;
  return renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <Cell column="experiment" run={run} headline={undefined} experiment={undefined} />
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
