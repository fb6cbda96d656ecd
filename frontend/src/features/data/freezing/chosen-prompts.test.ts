import { describe, expect, it } from "vitest";

import type { PromptGroup } from "@/api/types";

import {
  chosenFrom,
  chosenTaken,
  EVERY,
  facetsOf,
  filterOf,
  filterText,
  isEvery,
  linkOf,
  nChosen,
  toggled,
} from "./chosen-prompts";

const group = (split: string, level: number, prompts: number): PromptGroup => ({
  tags: ["knights", split],
  metadata: { set: "knights", split, level },
  prompts,
});
const groups = [
  group("train", 2, 500),
  group("train", 10, 400),
  group("test", 2, 60),
  group("test", 10, 40),
];
const counted = { groups, left_out: [] as string[], has_more_keys: false, has_tags: true };
const test = toggled(EVERY, "split", "test");

describe("what prompts are chosen by", () => {
  it("is what tells them apart, numbers in their order", () => {
    expect(facetsOf(groups)).toEqual([
      {
        key: "level",
        values: [
          { value: 2, prompts: 560 },
          { value: 10, prompts: 440 },
        ],
      },
      {
        key: "split",
        values: [
          { value: "test", prompts: 100 },
          { value: "train", prompts: 900 },
        ],
      },
      {
        key: null,
        values: [
          { value: "knights", prompts: 1000 },
          { value: "test", prompts: 100 },
          { value: "train", prompts: 900 },
        ],
      },
    ]);
    const other: PromptGroup = { tags: [], metadata: {}, prompts: 1 };
    expect(facetsOf([...groups, other]).map(({ key }) => key)).toEqual([
      "level",
      "set",
      "split",
      null,
    ]);
    expect(facetsOf([other])).toEqual([]);
  });
  it("is one of the values at each key, and one of the tags", () => {
    expect(nChosen(counted, EVERY)).toBe(1000);
    expect(nChosen(counted, test)).toBe(100);
    expect(nChosen(counted, toggled(test, "level", 2))).toBe(60);
    expect(nChosen(counted, toggled(toggled(test, "level", 2), "level", 10))).toBe(100);
    expect(nChosen(counted, toggled(toggled(EVERY, null, "test"), "level", 2))).toBe(60);
    expect(nChosen(counted, toggled(test, null, "train"))).toBe(0);
    // A number is no text.
    expect(nChosen(counted, toggled(test, "level", "2"))).toBe(0);
  });
  it("is every prompt again where a choice is taken back", () => {
    const none = toggled(test, "split", "test");
    expect(isEvery(none)).toBe(true);
    expect(filterOf(none)).toEqual({});
    expect(isEvery(test)).toBe(false);
    expect(filterOf(toggled(test, null, "a"))).toEqual({
      tags: ["a"],
      metadata: { split: ["test"] },
    });
  });
});

describe("what is said of it", () => {
  it("is how many prompts, and of other records whose", () => {
    expect(chosenTaken("prompts", counted, test)).toBe("The snapshot takes 100 of 1,000 prompts.");
    expect(chosenTaken("preferences", counted, test)).toBe(
      "The snapshot takes the preferences of 100 of 1,000 prompts, if they have any.",
    );
    expect(chosenTaken("prompts", counted, toggled(test, "level", 3))).toBe(
      "No prompt is like this.",
    );
  });
  it("is no number where what was counted does not tell", () => {
    const unknown = { ...counted, left_out: ["split"], has_tags: false };
    expect(nChosen(unknown, test)).toBeNull();
    expect(nChosen(unknown, toggled(EVERY, null, "a"))).toBeNull();
    expect(nChosen(unknown, toggled(EVERY, "level", 2))).toBe(560);
    const more = { ...counted, has_more_keys: true };
    expect(nChosen(more, toggled(EVERY, "far", 2))).toBeNull();
    expect(nChosen(more, test)).toBe(100);
    expect(nChosen(counted, toggled(EVERY, "far", 2))).toBe(0);
    for (const one of [unknown, undefined])
      expect(chosenTaken("prompts", one, test)).toBe("The snapshot takes prompts with split test.");
  });
  it("is what the filter of a snapshot says of prompts", () => {
    expect(filterText({})).toBe("");
    expect(filterText({ run_ids: ["run_1"], answers: { run_id: "a" } })).toBe("");
    expect(filterText({ tags: ["a", "b"], metadata: { level: [2, 10], split: ["test"] } })).toBe(
      "level 2 or 10; split test; tags a or b",
    );
  });
  it("is carried by a link, and nothing else is taken from one", () => {
    const chosen = toggled(toggled(test, "level", 2), null, "a");
    expect(chosenFrom(linkOf(chosen))).toEqual(chosen);
    for (const text of [null, "", "{", "3", "[]", '{"metadata": [], "tags": {"a": 1}}'])
      expect(chosenFrom(text)).toEqual(EVERY);
    expect(chosenFrom('{"tags": ["a", 1], "metadata": {"k": [{}, "v"], "odd": "v"}}')).toEqual({
      tags: ["a"],
      metadata: { k: ["v"] },
    });
  });
});
