import { describe, expect, it } from "vitest";

import type { LineageNode } from "@/api/types";

import { edgesOf, layout } from "./layout";

const node = (id: string, parent: string | null, rewards: string[] = []): LineageNode => ({
  model_id: id,
  name: id,
  kind: "causal_lm",
  parent_id: parent,
  run_id: null,
  run_name: null,
  method: null,
  snapshot_ids: [],
  snapshot_names: [],
  reward_model_ids: rewards,
  relation: "self",
});

const loop = [
  node("base", null),
  node("sft", "base"),
  node("reward", "sft"),
  node("policy", "sft", ["reward"]),
];

describe("the lineage graph", () => {
  it("puts base, SFT, reward model and policy one after another", () => {
    const columns = layout(loop).map(({ node: { model_id }, column }) => [model_id, column]);
    expect(columns).toEqual([
      ["base", 0],
      ["sft", 1],
      ["reward", 2],
      ["policy", 3],
    ]);
  });
  it("gives siblings rows of their own", () => {
    const placed = layout([...loop, node("other", "sft")]);
    const places = placed.map(({ column, row }) => `${column},${row}`);
    expect(new Set(places).size).toBe(places.length);
  });
  it("draws weights and scores as different edges, and none to what is not shown", () => {
    expect(edgesOf(loop.slice(1)).map(({ from, to, isScore }) => [from, to, isScore])).toEqual([
      ["sft", "reward", false],
      ["sft", "policy", false],
      ["reward", "policy", true],
    ]);
  });
  it("does not hang on a circle", () => {
    expect(layout([node("a", "b"), node("b", "a")])).toHaveLength(2);
  });
});
