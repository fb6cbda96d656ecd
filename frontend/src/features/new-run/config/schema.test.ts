import { describe, expect, it } from "vitest";

import type { JsonObject, Method } from "@/api/types";

import {
  emptyWord,
  fieldsOf,
  grouped,
  numberRange,
  variantOf,
  type Field,
  type FieldOf,
} from "./schema";

const common: JsonObject = {
  seed: { type: "integer", minimum: 0, maximum: 2 ** 63, default: 0, description: "Seed." },
  lora: { anyOf: [{ $ref: "#/$defs/Lora" }, { type: "null" }], default: null },
};

function method(name: Method["method"], own: JsonObject, required: string[]): Method {
  return {
    method: name,
    title: name,
    description: "",
    presets: [],
    result: "causal_lm",
    next_steps: [],
    headlines: [],
    metrics: [],
    references: { model: "causal_lm", "reward.terms.*.model": "reward_model" },
    json_schema: {
      properties: { ...common, method: { const: name, default: name, type: "string" }, ...own },
      required,
      $defs: {
        Lora: {
          description: "Adapters.",
          properties: { r: { type: "integer", minimum: 1, maximum: 1024, default: 16 } },
        },
        Reference: { description: "Exactly one of id, hub_id.", properties: { id: {} } },
        Reward: {
          required: ["terms"],
          properties: {
            terms: {
              type: "array",
              minItems: 1,
              maxItems: 16,
              items: { oneOf: [{ $ref: "#/$defs/ModelReward" }, { $ref: "#/$defs/Finished" }] },
            },
          },
        },
        ModelReward: {
          required: ["model"],
          properties: { kind: { const: "model" }, model: { $ref: "#/$defs/Reference" } },
        },
        EvaluationSet: {
          title: "EvaluationSet",
          description: "Prompts with their own sampling.",
          required: ["name", "prompts"],
          properties: {
            name: { type: "string", maxLength: 32 },
            prompts: { $ref: "#/$defs/Reference" },
          },
        },
        Finished: { properties: { kind: { const: "finished" }, weight: { type: "number" } } },
      },
    },
  };
}

const reference: JsonObject = { $ref: "#/$defs/Reference" };
const policy = method(
  "policy_gradient",
  { model: reference, reward: { $ref: "#/$defs/Reward" }, steps: { type: "integer", default: 9 } },
  ["model", "reward"],
);
const sft = method("sft", { model: reference }, ["model"]);

describe("the fields of a method", () => {
  const byName = new Map(fieldsOf(policy).map((field) => [field.name, field]));

  it("leave out what has one answer", () => {
    expect(byName.has("method")).toBe(false);
  });
  it("follow $ref into nested sections and say which of them may be off", () => {
    expect(byName.get("lora")).toMatchObject({
      type: "section",
      isNullable: true,
      fallback: null,
      description: "Adapters.",
      fields: [{ name: "r", type: "number", isInteger: true, range: "1 to 1,024", fallback: 16 }],
    });
  });
  it("know what each reference wants, inside the items of a list too", () => {
    expect(byName.get("model")).toMatchObject({
      type: "reference",
      wants: "causal_lm",
      isRequired: true,
      description: "A language model from the registry or from the Hugging Face Hub.",
    });
    expect(byName.get("reward")).toMatchObject({
      fields: [
        {
          type: "list",
          least: 1,
          most: 16,
          variants: [
            { kind: "model", fields: [{ name: "model", wants: "reward_model" }] },
            { kind: "finished", fields: [{ name: "weight", type: "number" }] },
          ],
        },
      ],
    });
  });
});

describe("a list", () => {
  const words = (own: JsonObject, references: Method["references"] = {}) => ({
    ...method("evaluate", own, []),
    references,
  });
  const [sets] = fieldsOf(
    words(
      {
        seed: { const: 0 },
        lora: { const: 0 },
        evaluation_sets: { type: "array", maxItems: 8, items: { $ref: "#/$defs/EvaluationSet" } },
      },
      { "evaluation_sets.*.prompts": "prompts" },
    ),
  ) as FieldOf<"list">[];

  it("of objects of one kind has the fields of that object", () => {
    expect(sets).toMatchObject({
      type: "list",
      least: 0,
      most: 8,
      variants: [
        {
          kind: "",
          name: "evaluation set",
          description: "Prompts with their own sampling.",
          fields: [
            { name: "name", type: "text", isRequired: true },
            { name: "prompts", type: "reference", wants: "prompts", isRequired: true },
          ],
        },
      ],
    });
  });
  it("calls an item by its kind where it has one", () => {
    const reward = fieldsOf(policy).find(({ name }) => name === "reward") as FieldOf<"section">;
    const terms = reward.fields[0] as FieldOf<"list">;
    expect(terms.variants.map(({ name }) => name)).toEqual(["model", "finished"]);
    expect(variantOf(terms, { kind: "finished" })).toBe(terms.variants[1]);
    expect(variantOf(terms, { kind: "finnished" })).toBeUndefined();
    expect(variantOf(terms, {})).toBeUndefined();
  });
  it("of one kind knows its item by nothing else", () => {
    expect(sets && variantOf(sets, { name: "ood" })).toBe(sets?.variants[0]);
  });
});

describe("fields of words", () => {
  const words = method(
    "sft",
    {
      loss: { enum: ["pairwise", "listwise"], default: "pairwise" },
      template: {
        type: "string",
        maxLength: 20_000,
        default: "model",
        "x-choices": ["model", "plain"],
        "x-custom": "{{ a }}",
      },
      stop: { type: "array", items: { type: "string" }, maxItems: 8 },
    },
    [],
  );
  const byName = new Map(fieldsOf(words).map((field) => [field.name, field]));

  it("are a choice, with words of one's own where the schema has some to begin with", () => {
    expect(byName.get("loss")).toMatchObject({
      type: "choice",
      options: ["pairwise", "listwise"],
      custom: null,
    });
    expect(byName.get("template")).toMatchObject({
      type: "choice",
      options: ["model", "plain"],
      custom: "{{ a }}",
      fallback: "model",
    });
  });
  it("are several texts where the schema has a list of them", () => {
    expect(byName.get("stop")).toMatchObject({ type: "texts", range: "at most 8" });
  });
});

describe("the groups of a form", () => {
  it("put references first, then what is the method's own, then what all methods share", () => {
    const groups = grouped(policy, [policy, sft]);
    expect(groups.map(({ fields }) => fields.map(({ name }) => name))).toEqual([
      ["model"],
      ["reward", "steps"],
      ["seed", "lora"],
    ]);
  });
  it("share what all methods that train have, although those that only sample lack it", () => {
    const schemaOf = (...names: string[]) => ({
      ...policy,
      references: {},
      json_schema: {
        properties: Object.fromEntries(names.map((name) => [name, { type: "boolean" }])),
      },
    });
    const training = schemaOf("seed", "lora", "eval_every", "steps");
    const other = schemaOf("seed", "lora", "eval_every");
    const groups = grouped(training, [training, other, schemaOf("seed")]);
    expect(groups.map(({ fields }) => fields.map(({ name }) => name))).toEqual([
      ["steps"],
      ["seed", "lora", "eval_every"],
    ]);
  });
  it("have no group without fields", () => {
    expect(grouped(sft, [policy, sft]).map(({ title }) => title)).toEqual([
      "Model and data",
      "Training and resources",
    ]);
  });
});

describe("a field without a value", () => {
  const field = (whenAbsent: string | null): Field => ({
    name: "batch_size",
    description: "Records per step.",
    isRequired: false,
    isNullable: true,
    fallback: null,
    whenAbsent,
    type: "number",
    isInteger: true,
    range: "",
  });
  it("has the default that the schema says in words, else none", () => {
    expect(emptyWord(field("16"))).toBe("default");
    expect(emptyWord(field(null))).toBe("none");
  });
});

describe("a range", () => {
  it("names open and closed bounds apart", () => {
    expect(numberRange({ minimum: 0, maximum: 1 })).toBe("0 to 1");
    expect(numberRange({ exclusiveMinimum: 0, maximum: 1 })).toBe("above 0, at most 1");
    expect(numberRange({ minimum: 0, exclusiveMaximum: 0.5 })).toBe("at least 0, below 0.5");
    expect(numberRange({})).toBe("");
  });
  it("leaves out a bound beyond what JavaScript counts exactly", () => {
    expect(numberRange({ minimum: 0, maximum: 2 ** 63 })).toBe("at least 0");
  });
});
