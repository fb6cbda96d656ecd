import { describe, expect, it } from "vitest";

import { bySaid, bySearch, found, placeOf } from "./find";
import type { Field } from "./schema";

const common = { isRequired: false, isNullable: false, fallback: undefined, whenAbsent: null };
const number = (name: string, description: string): Field => ({
  ...common,
  name,
  description,
  type: "number",
  isInteger: false,
  range: "",
});
const fields: readonly Field[] = [
  {
    ...common,
    name: "estimator",
    description: "",
    type: "choice",
    options: ["grpo"],
    custom: null,
  },
  {
    ...common,
    name: "kl",
    description: "Distance from the reference.",
    type: "section",
    fields: [number("coef", "Weight of the penalty."), number("max", "Stop beyond this.")],
  },
  number("seed", "Of all random numbers."),
];
const names = (list: readonly Field[]): unknown[] =>
  list.map((field) => (field.type === "section" ? [field.name, names(field.fields)] : field.name));

describe("what is looked for", () => {
  it("is found by its path, its sentence or its options, whatever the case", () => {
    expect(names(found(fields, bySearch("KL.coef")))).toEqual([["kl", ["coef"]]]);
    expect(names(found(fields, bySearch("beyond")))).toEqual([["kl", ["max"]]]);
    expect(names(found(fields, bySearch("grpo")))).toEqual(["estimator"]);
  });
  it("has each word", () => {
    expect(names(found(fields, bySearch("kl stop")))).toEqual([["kl", ["max"]]]);
    expect(found(fields, bySearch("seed stop"))).toEqual([]);
  });
  it("is a whole section where the section itself fits, and everything without a word", () => {
    expect(names(found(fields, bySearch("distance")))).toEqual([["kl", ["coef", "max"]]]);
    expect(found(fields, bySearch("  "))).toEqual(fields);
  });
});

describe("what is said", () => {
  it("is what the config has, and what it must have", () => {
    const required = { ...number("lr", ""), isRequired: true };
    const said = bySaid({ kl: { max: 5 } });
    expect(names(found([...fields, required], said))).toEqual([["kl", ["max"]], "lr"]);
  });
});

describe("the place of a path", () => {
  const variants = [
    { kind: "math", name: "math", description: "", fields: [number("weight", "")] },
    { kind: "model", name: "model", description: "", fields: [number("scale", "")] },
  ];
  const terms: Field = {
    ...common,
    name: "terms",
    description: "",
    type: "list",
    variants,
    least: 1,
    most: 9,
  };
  const model: Field = {
    ...common,
    name: "model",
    description: "",
    type: "reference",
    wants: "causal_lm",
  };
  const reward: Field = {
    ...common,
    name: "reward",
    description: "",
    type: "section",
    fields: [terms],
  };
  const place = (path: string) => placeOf([...fields, model, reward], path);

  it("is its field or its section", () => {
    expect(["estimator", "kl", "kl.coef"].map(place)).toEqual(["estimator", "kl", "kl.coef"]);
  });
  it("is what has one field for all that lies within", () => {
    expect(place("model.hub_id")).toBe("model");
    expect(place("reward.terms.1.scale")).toBe("reward.terms.1.scale");
    expect(["reward.terms", "reward.terms.1", "reward.terms.1.kind"].map(place)).toEqual(
      Array(3).fill("reward.terms"),
    );
  });
  it("is nowhere for what the form does not have", () => {
    expect(["", "other", "kl.other", "reward.terms.1.other"].map(place)).toEqual(
      Array(4).fill(null),
    );
  });
});
