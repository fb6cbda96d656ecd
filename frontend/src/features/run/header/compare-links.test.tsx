import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { MemoryRouter } from "react-router";
import { expect, test } from "vitest";

import { experimentQuery } from "@/api/experiments";
import type { Run } from "@/api/types";

import { CompareLinks } from "./compare-links";

/** The addresses of the links of run `r`, whose experiment has these runs. */
function links(parent: string | null, experimentRuns: readonly string[] | null) {
  const experiment = experimentRuns === null ? null : "e";
  const ids = { parent_id: parent, experiment_id: experiment };
  const run = { id: "r", project_id: "p", ...ids } as unknown as Run;
  const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  client.setQueryData(experimentQuery("e").queryKey, { run_ids: experimentRuns } as never);
  const shown = renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <MemoryRouter>
        <CompareLinks run={run} />
      </MemoryRouter>
    </QueryClientProvider>,
  );
  return [...shown.matchAll(/href="\/projects\/p\/compare\?runs=([^"]*)"[^>]*>([^<]*)/g)].map(
    ([, runs = "", text = ""]) => [text, runs.split(",")],
  );
}

test("a run is compared with its parent and with its experiment", () => {
  expect(links("a", ["c", "r", "b"])).toEqual([
    ["Compare with its parent", ["a", "r"]],
    ["Compare with its experiment", ["r", "c", "b"]],
  ]);
});

test("no link leads to a comparison of one run alone", () => {
  expect(links(null, null)).toEqual([]);
  expect(links(null, ["r"])).toEqual([]);
});

test("the address names all runs of an experiment, so that the comparison says which it leaves out", () => {
  const others = Array.from({ length: 100 }, (_, place) => `o${place}`);
  const [[, runs] = []] = links(null, others);
  expect(runs).toEqual(["r", ...others]);
});
