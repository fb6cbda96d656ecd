import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import { Problem } from "@/api/client";
import { alertsQuery } from "@/api/runs";
import type { Run } from "@/api/types";

import { Alerts } from "./alerts";

test("a run whose alerts could not be had does not look like one without alerts", () => {
  const client = new QueryClient({ defaultOptions: { queries: { retryOnMount: false } } });
  const query = client.getQueryCache().build(client, { queryKey: alertsQuery("run_a").queryKey });
  query.setState({ status: "error", error: new Problem(503, { title: "Too busy" }) });

  const shown = renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <Alerts run={{ id: "run_a" } as Run} fresh={[]} base="" />
    </QueryClientProvider>,
  );

  expect(shown).toContain("The alerts of this run could not be loaded.");
  expect(shown).toContain("Try again");
});
