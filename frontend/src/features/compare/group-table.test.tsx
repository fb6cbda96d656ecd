// @vitest-environment window
import { renderToStaticMarkup } from "react-dom/server";
import { MemoryRouter } from "react-router";
import { expect, test, vi } from "vitest";

import type { Run, RunVerdict, SeedGroup, SeedGroups } from "@/api/types";

import { GroupTable } from "./group-table";

vi.mock("./view", () => ({
  useView: () => ({ hidden: new Set(), toggle: () => undefined, leaveOut: () => undefined }),
}));
vi.mock("./add-run", () => ({ AddRun: () => null }));

const runOf = (id: string, state: Run["state"]) =>
  ({ id, name: `run ${id}`, project_id: "p", state }) as Run;

const group = (values: readonly number[], more: Partial<SeedGroup> = {}): SeedGroup => ({
  name: "grpo",
  runs: values.map((_, place) => `r${place}`),
  config: {},
  left_out: [],
  values: values.map((value, place) => ({
    run: `r${place}`,
    value,
    step: 1000,
    state: "succeeded" as const,
  })),
  value: 0.5,
  interval: values.length < 3 ? null : { low: 0.4, high: 0.6 },
  is_iqm: values.length > 9,
  apart: null,
  why_open: "",
  ...more,
});

function text(
  shown: SeedGroup,
  states: Readonly<Record<string, Run["state"]>> = {},
  unit = "",
  verdicts: ReadonlyMap<string, RunVerdict> = new Map(),
): string {
  const answer = { groups: [shown], title: "Held-out reward", evaluated_on: null };
  const runs = new Map(shown.runs.map((id) => [id, runOf(id, states[id] ?? "succeeded")]));
  const page = document.createElement("div");
  page.innerHTML = renderToStaticMarkup(
    <MemoryRouter>
      <GroupTable
        unit={unit}
        answer={answer as unknown as SeedGroups}
        runs={runs}
        verdicts={verdicts}
      />
    </MemoryRouter>,
  );
  return page.textContent;
}

test("a number of several seeds says what it is of how many", () => {
  expect(text(group([0.4, 0.5, 0.6]))).toContain("0.500 [0.400, 0.600], mean of 3 seeds");
  expect(text(group(Array<number>(12).fill(0.5)))).toContain("IQM of 12 seeds");
  expect(text(group([0.5, 0.5, 0.5], { interval: null }))).toContain("no spread, mean of 3 seeds");
});

test("the number has the unit of the metric", () => {
  const said = text(group([0.4, 0.5, 0.6]), {}, "nats per token");
  expect(said).toContain("Held-out reward, nats per token");
  expect(text(group([0.4]))).not.toContain("Held-out reward,");
});

test("two seeds have their values and no mean", () => {
  const said = text(group([0.25, 0.75]));

  expect(said).toContain("0.250, 0.750 2 seeds: no interval");
  expect(said).not.toContain("0.500");
});

test("steps and states are said where they differ", () => {
  const even = group([0.4, 0.5, 0.6]);
  expect(text(even)).not.toContain("step 1,000");
  const [first, ...rest] = even.values;
  const apart = { ...even, values: first === undefined ? [] : [{ ...first, step: 100 }, ...rest] };
  const said = text(apart, { r0: "failed" });
  expect(said).toContain("0.400step 100failed");
  expect(said).toContain("0.500step 1,000");
});

test("verdicts on single runs stand beside their changes, and chance is named", () => {
  const verdict = {
    kind: "improved",
    level: "good",
    sentence: "",
    change: "+0.060 [0.002, 0.116]",
  };
  const said = (n: number) => {
    const ids = ["r0", "r1", "r2"].slice(0, n);
    const found = new Map(ids.map((id) => [id, verdict as RunVerdict]));
    return text(group([0.4, 0.5, 0.6]), {}, "", found);
  };
  expect(said(3)).toContain("improved+0.060 [0.002, 0.116]");
  expect(said(3)).toContain("about one in twenty shows a clear rise or fall by chance.");
  expect(said(2)).not.toContain("by chance");
});

test("a rerun of a seed is named as left out, and no seed", () => {
  const why = "it repeats seed 1, which counts once";
  const all = group([0.4, 0.5, 0.6]);
  const said = text({
    ...all,
    runs: [...all.runs, "r9"],
    left_out: [{ run: "r9", counts: "r0", why }],
  });

  expect(said).toContain(`run r9–left out: ${why}`);
  expect(said).toContain("grpo3");
});
