// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import { dataDifferencesQuery } from "@/api/differences";
import type { DataDifference, DataDifferences as Found, SeedGroups } from "@/api/types";

import { DataDifferences } from "./data-differences";

const counts = { train: { records: 2 }, heldout: { records: 1 } };
const snapshot = (name: string, run: string, isTrainedOn = false) => ({
  ...{ id: name, name, sha256: name, counts },
  ...{ runs: [run], is_trained_on: isTrainedOn },
});
const overlap = {
  ...{ in_both: 2, added: 1, removed: 1, heldout_in_both: 0, is_heldout_equal: false },
  ...{ trained_on_heldout: 1, heldout_from_training: 2 },
};

/** Of two snapshots, each with whether its run trains on it. */
const difference = (field: string, areTrainedOn: [boolean, boolean], more: object = {}) => ({
  ...{ field, overlaps: [overlap], without: [] },
  snapshots: [snapshot("first", "a", areTrainedOn[0]), snapshot("second", "b", areTrainedOn[1])],
  ...more,
});

function text(items: readonly object[], same: readonly string[] = []): string {
  const client = new QueryClient();
  const found: Found = { items: items as DataDifference[], same: [...same], most_records: 5 };
  client.setQueryData(dataDifferencesQuery(["a", "b"]).queryKey, found);
  const page = document.createElement("div");
  page.innerHTML = renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <DataDifferences answer={{ groups: [{ runs: ["a"] }, { runs: ["b"] }] } as SeedGroups} />
    </QueryClientProvider>,
  );
  return page.textContent;
}

test("a prompt that is trained on and held out elsewhere is told", () => {
  const shown = text([difference("prompts", [true, true])]);
  expect(shown).toContain("Trained on");
  expect(shown).toContain("This one trains on 1 prompt that the first holds out.");
  expect(shown).toContain("The first trains on 2 prompts that this one holds out.");
});

test("what a run only evaluates is not trained on", () => {
  const evaluatesSecond = text([difference("prompts", [true, false])]);
  expect(evaluatesSecond).not.toContain("This one trains on");
  expect(evaluatesSecond).toContain("The first trains on 2 prompts that this one holds out.");
  expect(evaluatesSecond).not.toContain("Trained on");
  const evaluatesFirst = text([difference("prompts", [false, true])]);
  expect(evaluatesFirst).toContain("This one trains on 1 prompt that the first holds out.");
  expect(evaluatesFirst).not.toContain("The first trains on");
});

test("nobody trains on the prompts of an evaluation set", () => {
  const shown = text([difference("evaluation_sets.people_8.prompts", [false, false])]);
  expect(shown).toContain("prompts of the set people_8");
  expect(shown).toContain("2 in common, 1 added, 1 removed.");
  expect(shown).not.toMatch(/train/i);
});

test("groups that name no snapshot are said", () => {
  const one = { snapshots: [snapshot("first", "a")], overlaps: [], without: ["b"] };
  expect(text([difference("texts", [false, false], one)])).toContain(
    "Groups with runs that name none: B.",
  );
});

test("what all use is listed by name", () => {
  expect(text([], ["prompts", "evaluation_sets.ood.prompts"])).toContain(
    "All runs use the same snapshot for prompts, prompts of the set ood.",
  );
});
