import { describe, expect, it } from "vitest";

import type { RunKeys } from "@/api/types";

import { asValue, complete, isComplete, maySend, taken } from "./completion";

const number = [":", "!=", ">", ">=", "<", "<="];
const keys: RunKeys = {
  config: ["config.kl.coef", "config.method"],
  metrics: ["eval/reward", "kl/token"],
  tags: ["baseline", "two words"],
  fields: [
    { name: "state", about: "where it stands", operators: [":", "!="], choices: ["queued", "running"] },
    { name: "verdict", about: "its verdict", operators: [":", "!="], choices: [
      "stalled", "inflated", "collapsed", "at_chance", "worse", "hacked", "truncated",
    ] },
    { name: "tag", about: "a tag", operators: [":", "!=", "~"], choices: [] },
    { name: "step", about: "the step", operators: number, choices: [] },
    { name: "archived", about: "in the archive", operators: [":", "!="], choices: ["yes", "no"] },
    { name: "config.", about: "of the config", operators: number, choices: [] },
    { name: "best.", about: "the best", operators: number, choices: [] },
    { name: "metric.", about: "the newest", operators: number, choices: [] },
  ],
}; // prettier-ignore
const known = { keys, experiments: ["KL sweep"] };

const offered = (text: string, caret = text.length) =>
  complete(text, caret, known).options.map(({ insert }) => insert);

describe("what is offered", () => {
  it.each([
    ["", ["state:", "verdict:", "tag:", "step", "archived:", "config.", "best.", "metric."]],
    ["st", ["state:", "step"]],
    ["-st", ["state:", "step"]],
    ["(state:running OR ta", ["tag:"]],
    ["kl", ["config.kl.coef", "metric.kl/token"]],
    ["config.", ["config.kl.coef", "config.method"]],
    ["best.ev", ["best.eval/reward"]],
    ["best.eval/reward", number.map((one) => `best.eval/reward${one}`)],
    ["step", number.map((one) => `step${one}`)],
    ["state:", ["queued", "running", "none", "any"]],
    ["state:r", ["running"]],
    ["state:queued,", ["queued", "running", "none", "any"]],
    ["state!=que", ["queued"]],
    ["tag:two", ['"two words"']],
    ['tag:"two', ['"two words"']],
    ["archived:", ["yes", "no", "any"]],
    ["verdict:hack", ["hacked"]],
    ["verdict:CLEAR", ["stalled"]],
    ["verdict:infl", ["inflated", "hacked"]],
    ["verdict:inflated", []],
    ["verdict:Inflated", []],
    ["verdict:any", []],
    ["verdict:trunc", ["truncated"]],
    ["verdict!=not", ["at_chance"]],
    ["verdict:wors", ["worse", "at_chance"]],
    ["verdict:worse", []],
    ['verdict:"worse than', ["at_chance"]],
    ["config.kl.coef>", []],
    ['"a state:', []],
    ["nothing:", []],
  ])("%s", (text, expected) => {
    expect(offered(text).slice(0, expected.length || 99)).toEqual(expected);
  });

  it("tells what verdicts are called in the table, where that is not their value", () => {
    const { options } = complete("verdict:", 8, known);
    const about = Object.fromEntries(options.map((one) => [one.insert, one.about]));
    expect(about).toMatchObject({
      stalled: "no clear change",
      inflated: "length inflated",
      collapsed: "",
      hacked: "over-optimized, or length inflated",
    });
  });

  it("is about the term at the caret", () => {
    expect(offered("state:r tag:x", 7)).toEqual(["running"]);
  });
});

describe("what is taken", () => {
  it.each([
    ["st", "state:", "state:"],
    ["tag:x -st", "state:", "tag:x -state:"],
    ["state:r", "running", "state:running "],
    ["state:queued,r", "running", "state:queued,running "],
    ["config.", "config.kl.coef", "config.kl.coef"],
    ["step", "step>=", "step>="],
  ])("%s", (text, insert, expected) => {
    const { from } = complete(text, text.length, known);
    expect(taken(text, text.length, { from, insert })).toEqual({
      text: expected,
      caret: expected.length,
    });
  });
});

it.each([
  ["", true],
  ["state:running", true],
  ["state:", false],
  ["state:a,", false],
  ["(a", false],
  ["(a)", true],
  ['name:"a (', false],
  ['name:"a ("', true],
  ["a OR", false],
  ["a OR b", true],
  ["FLOOR", true],
  ["-", false],
])("is complete: %s", (text, expected) => {
  expect(isComplete(text)).toBe(expected);
});

it.each([
  ["state:running", true],
  ["state:running ", true],
  ["state:runn", false],
  ["verdict:worse", true],
  ["verdict:any", true],
  ["verdict:Inflated", true],
  ["verdict:many", false],
  ["sta", false],
  ["state:running config.k", false],
  ["baseline", true],
  ["state:", false],
])("is sent while it is written: %s", (text, expected) => {
  expect(maySend(text, text.length, known)).toBe(expected);
});

it.each([
  ["a", "a"],
  ["two words", '"two words"'],
  ['say "x"', '"say \\"x\\""'],
  ["none", '"none"'],
])("writes values: %s", (value, expected) => {
  expect(asValue(value)).toBe(expected);
});
