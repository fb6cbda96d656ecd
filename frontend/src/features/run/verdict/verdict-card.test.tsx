import { readFileSync } from "node:fs";
import { join } from "node:path";

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { createMemoryRouter, RouterProvider } from "react-router";
import { expect, test } from "vitest";

import { verdictQuery } from "@/api/runs";
import type { Run } from "@/api/types";

import { VerdictDetails } from "./verdict-card";

const CSS = readFileSync(join(import.meta.dirname, "verdict.css"), "utf8");
const RUN = { id: "run_a", state: "succeeded", logs_samples: true } as Run;

test("each line of what happened has a dot in the colour of its level", () => {
  const client = new QueryClient();
  const happened = (["good", "warn", "bad", "none"] as const).map((level, step) => ({
    ...{ step, level, sentence: `It is ${level}.` },
  }));
  client.setQueryData(verdictQuery("run_a").queryKey, { happened, gauges: [] } as never);
  const card = <VerdictDetails run={RUN} base="/runs/run_a" />;
  const page = renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <RouterProvider router={createMemoryRouter([{ path: "/", element: card }])} />
    </QueryClientProvider>,
  );

  expect([...page.matchAll(/<li class="(\w+)">/g)].map(([, level]) => level)).toEqual([
    ...["good", "warn", "bad", "none"],
  ]);
  expect(CSS).toContain(".happened li::before {");
  for (const level of ["good", "warn", "bad"])
    expect(CSS).toContain(`.happened li.${level}::before {\n  border-color: var(--${level});`);
});
