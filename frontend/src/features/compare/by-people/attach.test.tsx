// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";

import { runQuery } from "@/api/runs";
import { meQuery } from "@/api/session";
import type { Run, User, Versus } from "@/api/types";

import { Attach } from "./attach";

const run = (id: string, name: string) => ({ id, name, project_id: "prj_1" }) as Run;

/** What is read, without the marks of the page. */
function shown(found: Partial<Versus>): string {
  const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  client.setQueryData(meQuery.queryKey, {
    id: "usr_1",
    role: "admin",
    memberships: [],
  } as unknown as User);
  client.setQueryData(runQuery("run_7").queryKey, run("run_7", "run-7"));
  const page = document.createElement("div");
  page.innerHTML = renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <Attach found={found as Versus} ours={run("run_8", "samples")} theirs={run("run_9", "sft")} />
    </QueryClientProvider>,
  );
  return page.textContent;
}

it("says in whole words what attaching does to the run that trained the model", () => {
  const found = { win_rate: 0.75, interval: { low: 0.6, high: 0.85 }, judged: 40 };
  const text = shown({ ...found, trained_by: { run: "run_7", step: 8 } } as Partial<Versus>);
  expect(text).toContain("Attach to run-7, step 8");
  expect(text).toContain("the verdict of run-7 then names it.");
});
