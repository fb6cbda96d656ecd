import { expect, it } from "vitest";

import { blocksOf, changesOf } from "./block-changes";

const BEFORE =
  "# How to rank\n\nPrefer what **helps** and is true.\n\nNever reward flattery.\n\nEnd.";
const NOW = "# How to rank\n\nPrefer what **helps** and is short.\n\nEnd.\n\n- a new rule";

it("keeps what stays, and shows where something is gone, new or changed", () => {
  const changes = changesOf(BEFORE, NOW);
  expect(changes.map(({ kind }) => kind)).toEqual(["same", "changed", "same", "added"]);
  const [, changed] = changes;
  const words = changed?.kind === "changed" ? changed.words : [];
  expect(words.map(({ text, of }) => `${of}: ${text}`)).toContain("second: short");
  const without = (of: string) =>
    words.flatMap((one) => (one.of === of ? [] : [one.text])).join("");
  expect(without("second")).toBe("Prefer what **helps** and is true.\n\nNever reward flattery.");
  expect(without("first")).toBe("Prefer what **helps** and is short.");
});

it("shows a rule that is gone as a whole", () => {
  const changes = changesOf(BEFORE, BEFORE.replace("Never reward flattery.\n\n", ""));
  expect(changes.filter(({ kind }) => kind !== "same")).toEqual([
    { kind: "removed", text: "Never reward flattery." },
  ]);
});

it("does not break code at its empty lines", () => {
  expect(blocksOf("one\n\n```\na\n\nb\n```\n\ntwo")).toEqual(["one", "```\na\n\nb\n```", "two"]);
});
