import { describe, expect, it } from "vitest";

import type { JsonObject, Method, Model } from "@/api/types";

import { initialConfig, differences, newItem, sparse, suggestedName } from "./initial-config";
import { fieldsOf } from "./schema";

const method: Method = {
  method: "sft",
  title: "SFT",
  description: "",
  presets: [],
  result: "causal_lm",
  next_steps: [],
  headlines: [],
  metrics: [],
  references: { model: "causal_lm", "terms.*.model": "reward_model", "sets.*.model": "causal_lm" },
  json_schema: {
    required: ["model", "terms"],
    properties: {
      model: { $ref: "#/$defs/Reference" },
      seed: { type: "integer", default: 0 },
      lora: { anyOf: [{ $ref: "#/$defs/Lora" }, { type: "null" }], default: null },
      optim: { $ref: "#/$defs/Optim" },
      terms: { type: "array", minItems: 1, items: { oneOf: [{ $ref: "#/$defs/Term" }] } },
      sets: { type: "array", items: { $ref: "#/$defs/Set" } },
    },
    $defs: {
      Reference: { properties: { id: {} } },
      Set: {
        title: "Set",
        required: ["model"],
        properties: {
          model: { $ref: "#/$defs/Reference" },
          split: { enum: ["train", "all"], default: "all" },
        },
      },
      Lora: { properties: { r: { type: "integer", default: 16 } } },
      Optim: { properties: { lr: { type: "number", default: 0.1 } } },
      Term: {
        required: ["model"],
        properties: {
          kind: { const: "model" },
          weight: { type: "number", default: 1 },
          model: { $ref: "#/$defs/Reference" },
        },
      },
    },
  },
};

const model = (id: string, kind: Model["kind"]): Model => ({
  id,
  kind,
  name: id,
  project_id: null,
  source: {},
  facts: {},
  sha256: null,
  run_id: null,
  parent_id: null,
  step: null,
  created_at: "2026-01-01T00:00:00Z",
  archived_at: null,
  pruned_at: null,
});

const candidates = (...models: Model[]) => ({ models, snapshots: [] });
const fields = fieldsOf(method);

describe("the beginning of a config", () => {
  it("takes a reference by itself only where one thing fits", () => {
    const one = candidates(model("m1", "causal_lm"), model("r1", "reward_model"));
    expect(initialConfig(method, {}, {}, one)).toEqual({
      method: "sft",
      model: { id: "m1" },
      terms: [{ kind: "model", model: { id: "r1" } }],
    });
    const two = candidates(model("m1", "causal_lm"), model("m2", "causal_lm"));
    expect(initialConfig(method, {}, {}, two)).toEqual({
      method: "sft",
      terms: [{ kind: "model" }],
    });
  });
  it("keeps what was chosen before, if the method can take it", () => {
    const two = candidates(model("m1", "causal_lm"), model("m2", "causal_lm"));
    const kept = initialConfig(method, {}, { model: { id: "m2" }, prompts: { id: "s1" } }, two);
    expect(kept).toEqual({ method: "sft", model: { id: "m2" }, terms: [{ kind: "model" }] });
    expect(initialConfig(method, {}, { model: { id: "gone" } }, two)["model"]).toBeUndefined();
  });
  it("keeps what a section requires when a preset says only part of it", () => {
    const terms = { type: "array", minItems: 1, items: { oneOf: [{ $ref: "#/$defs/Length" }] } };
    const schema = {
      properties: { reward: { $ref: "#/$defs/Reward" } },
      required: ["reward"],
      $defs: {
        Length: { properties: { kind: { const: "length" } } },
        Reward: {
          properties: { terms, clip: { type: "number", default: 10 } },
          required: ["terms"],
        },
      },
    };
    const one = { ...method, json_schema: schema } as unknown as Method;
    const config = initialConfig(one, { reward: { clip: 5 } }, {}, { models: [], snapshots: [] });
    expect(config["reward"]).toEqual({ terms: [{ kind: "length" }], clip: 5 });
  });

  it("takes every value of a preset or past run that is not the default anyway", () => {
    const values: JsonObject = {
      model: { id: "m1", sha256: "ab" },
      seed: 0,
      optim: { lr: 0.2 },
      lora: { r: 16 },
      terms: [{ kind: "model", model: { id: "r1" }, weight: 1 }],
    };
    expect(initialConfig(method, values, {}, candidates())).toEqual({
      method: "sft",
      model: { id: "m1", sha256: "ab" },
      optim: { lr: 0.2 },
      lora: {},
      terms: [{ kind: "model", model: { id: "r1" } }],
    });
  });
});

describe("a new item", () => {
  const one = candidates(model("m1", "causal_lm"), model("r1", "reward_model"));
  const [terms, sets] = fields.filter((field) => field.type === "list");

  it("has its kind, and what can be one thing only", () => {
    expect(terms?.variants.map((variant) => newItem(variant, one))).toEqual([
      { kind: "model", model: { id: "r1" } },
    ]);
  });
  it("has no kind where the items of the list have none", () => {
    expect(sets?.variants.map((variant) => newItem(variant, one))).toEqual([
      { model: { id: "m1" } },
    ]);
  });
});

describe("a sparse config", () => {
  it("drops the defaults in the items of a list, of one kind or of several", () => {
    expect(sparse(fields, { sets: [{ model: { id: "m1" }, split: "all" }] })).toEqual({
      sets: [{ model: { id: "m1" } }],
    });
  });
  it("drops sections in which all is default and keeps keys nobody knows", () => {
    expect(sparse(fields, { optim: { lr: 0.1 }, lora: null, learning_rate: 3 })).toEqual({
      learning_rate: 3,
    });
  });
  it("drops keys nobody knows that say nothing: past runs have stored them", () => {
    expect(sparse(fields, { optim: { lr: 0.1, batch_size: null, epochs: null } })).toEqual({});
    expect(sparse(fields, { optim: { lr: 0.2, epochs: null } })).toEqual({ optim: { lr: 0.2 } });
  });
  it("is the same when made sparse again", () => {
    const once = sparse(fields, { optim: { lr: 0.3 }, lora: { r: 8 }, seed: 4 });
    expect(sparse(fields, once)).toEqual(once);
  });
});

describe("differences", () => {
  it("name each value by its path, a reference as one", () => {
    const before = { optim: { lr: 1 }, model: { id: "a", sha256: "x" }, seed: 3 };
    const after = { optim: { lr: 2 }, model: { id: "b" }, lora: { r: 4 } };
    expect(differences(before, after)).toEqual([
      { path: "optim.lr", before: 1, after: 2 },
      { path: "model", before: { id: "a", sha256: "x" }, after: { id: "b" } },
      { path: "seed", before: 3, after: undefined },
      { path: "lora.r", before: undefined, after: 4 },
    ]);
  });
  it("are none between a config and itself", () => {
    const config = { terms: [{ kind: "model" }], optim: {} };
    expect(differences(config, config)).toEqual([]);
  });
});

describe("a suggested name", () => {
  it("says what tells runs apart", () => {
    const config = { method: "policy_gradient", kl: { coef: 0.15 }, lora: { r: 16 }, seed: 3 };
    const schema: JsonObject = { properties: { estimator: { default: "reinforce_pp" } } };
    const estimators = fieldsOf({ ...method, json_schema: schema });
    expect(suggestedName(config, estimators, new Set())).toBe("reinforce-pp-b0.15-lora16-s3");
    const other = { ...config, estimator: "rloo" };
    expect(suggestedName(other, estimators, new Set())).toBe("rloo-b0.15-lora16-s3");
  });
  it("is not one that another run has", () => {
    const taken = new Set(["sft", "sft-2"]);
    expect(suggestedName({ method: "sft" }, fields, taken)).toBe("sft-3");
  });
});
