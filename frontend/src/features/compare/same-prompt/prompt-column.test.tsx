import { renderToStaticMarkup } from "react-dom/server";
import { MemoryRouter } from "react-router";
import { expect, it } from "vitest";

import type { Run, RunPromptSamples } from "@/api/types";

import { PromptColumn } from "./prompt-column";

it("leads from a step to the responses of this run to this prompt at that step", () => {
  const run = { id: "run_a", name: "A", project_id: "project_a" } as Run;
  const found = {
    ...{ run: "run_a", step: 40, steps: [40], count: 1 },
    items: [{ number: 1, kind: "probe", response: "4", scores: {}, finish_reason: "stop" }],
  } as unknown as RunPromptSamples;
  const page = renderToStaticMarkup(
    <MemoryRouter>
      <PromptColumn
        {...{ found, base: null, prompt: "prompt a&b", choices: ["run_a"] }}
        shown={{ group: 0, run: "run_a" }}
        runs={new Map([["run_a", run]])}
        onChoose={() => undefined}
      />
    </MemoryRouter>,
  );

  expect(page.replaceAll("&amp;", "&")).toContain(
    '"/projects/project_a/runs/run_a/samples?kind=probe&step=40&prompt=prompt%20a%26b"',
  );
});
