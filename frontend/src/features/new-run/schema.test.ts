import { describe, expect, it } from "vitest";

import { pathOf, rangeText, shapeOf, valueAt, wantedAt, withValue, type Defs } from "./schema";

const defs: Defs = {
  Reference: { type: "object", properties: { id: { type: "string" } } },
  Lora: { type: "object", properties: { r: { type: "integer", default: 16 } } },
  Estimator: { type: "string", enum: ["reinforce_pp", "rloo"] },
};

describe("which control a property wants", () => {
  it.each([
    [{ $ref: "#/$defs/Reference" }, "reference"],
    [{ $ref: "#/$defs/Estimator", default: "reinforce_pp" }, "choice"],
    [{ anyOf: [{ $ref: "#/$defs/Lora" }, { type: "null" }] }, "group"],
    [{ type: "boolean" }, "flag"],
    [{ type: "integer" }, "number"],
    [{ const: "sft", type: "string" }, "hidden"],
    [{ type: "array", items: { oneOf: [] } }, "terms"],
    [{ type: "string" }, "text"],
  ] as const)("%j is a %s", (schema, kind) => {
    expect(shapeOf(schema, defs).kind).toBe(kind);
  });
  it("sees that null makes a value optional", () => {
    const schema = { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }], default: null };
    expect(shapeOf(schema, defs).isOptional).toBe(true);
    expect(rangeText(shapeOf(schema, defs))).toBe("at least 1, may be left empty");
  });
  it("tells range and default in words", () => {
    const lr = { type: "number", exclusiveMinimum: 0, maximum: 1, default: 0.0001 };
    expect(rangeText(shapeOf(lr, defs))).toBe("above 0, at most 1, default 0.0001");
  });
});

describe("changing one place of a config", () => {
  it("makes the objects and lists on the way and leaves the old one alone", () => {
    const before = { a: 1 };
    const after = withValue(before, pathOf("reward.terms.0.model.id"), "model_1");
    expect(after).toEqual({ a: 1, reward: { terms: [{ model: { id: "model_1" } }] } });
    expect(before).toEqual({ a: 1 });
    expect(valueAt(after, pathOf("reward.terms.0.model.id"))).toBe("model_1");
  });
  it("takes a key or an item away with undefined", () => {
    expect(withValue({ a: 1, b: 2 }, ["a"], undefined)).toEqual({ b: 2 });
    expect(withValue({ a: [1, 2, 3] }, ["a", 1], undefined)).toEqual({ a: [1, 3] });
  });
});

it("knows what a reference inside a list must point to", () => {
  const wanted = { "reward.terms.*.model": "reward_model", model: "causal_lm" };
  expect(wantedAt(wanted, pathOf("reward.terms.3.model"))).toBe("reward_model");
  expect(wantedAt(wanted, ["model"])).toBe("causal_lm");
});
