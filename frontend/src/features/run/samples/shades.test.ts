import { describe, expect, it } from "vitest";

import type { Run, Sample } from "@/api/types";

import {
  background,
  lacksBecause,
  noneShadedBecause,
  reasoningTokens,
  scaleOf,
  shadesOf,
  underline,
  underlineMeaning,
  unshadedBecause,
} from "./shades";

const SAMPLE: Sample = {
  number: 1,
  step: 1,
  kind: "rollout",
  chosen_for: [],
  prompt_id: "p",
  prompt: "p",
  response: "r",
  finish_reason: "stop",
  scores: {},
  tokens: ["a", "b"],
  logp: [-1, -2],
  kl: [0.5, null],
  advantage: null,
  sampler_logp: null,
  entropy: null,
  value: null,
  change: [-3, 1],
};

describe("shades", () => {
  it("that a sample lacks are said, with why", () => {
    expect(lacksBecause("change")).toBe(
      "This sample has no “Change”, because its step made no update.",
    );
    expect(lacksBecause("value")).toBe(
      "This sample was logged without “Value”, so it is not shaded.",
    );
    expect(lacksBecause("none")).toBe("");
  });
  it("are those that some sample has numbers for", () => {
    expect(shadesOf([SAMPLE]).map(([shade]) => shade)).toEqual(["change", "kl", "logp", "none"]);
    expect(shadesOf([]).map(([shade]) => shade)).toEqual(["none"]);
  });

  it("share one scale, which a single extreme token does not set", () => {
    const many = Array.from({ length: 99 }, (_, i) => i + 1);
    expect(scaleOf([{ ...SAMPLE, kl: [...many, 1000] }], "kl")).toBe(98);
    expect(scaleOf([SAMPLE, { ...SAMPLE, kl: [-2] }], "kl")).toBe(2);
    expect(scaleOf([SAMPLE], "advantage")).toBe(0);
  });

  it("colour what one looks for warmly, and nothing that was not measured", () => {
    const kl = { shade: "kl", scale: 1 } as const;
    expect(background(2, kl)).toBe(background(-2, { shade: "advantage", scale: 1 }));
    expect(background(0.5, { shade: "change", scale: 1 })).toContain("--s3) 24.0%");
    expect(background(null, kl)).toBeUndefined();
    expect(background(1, { ...kl, scale: 0 })).toBeUndefined();
  });

  it("have underlines that say the same where a system draws no colours", () => {
    const change = { shade: "change", scale: 3 } as const;
    const sizes = [-9, -3, -2, -1, -0.1, 0, 0.5, 1.5, 3];
    expect(sizes.map((value) => underline(value, change) ?? "none")).toEqual([
      ...["warm-3", "warm-3", "warm-2", "warm-1", "none", "none", "cool-1", "cool-2", "cool-3"],
    ]);
    expect(underline(3, { shade: "kl", scale: 3 })).toBe("warm-3");
    expect(underline(null, change)).toBeUndefined();
    expect(underline(1, { ...change, scale: 0 })).toBeUndefined();

    expect(underlineMeaning("change")).toBe(
      "Your system does not draw these colours. A solid underline is a value below 0 and a dotted one a value above 0. The thicker it is, the further the value is from 0; values close to 0 have none.",
    );
    expect(underlineMeaning("kl")).toContain("solid underline is a value above 0");
  });
});

describe("reasoning", () => {
  it("ends with the token that completes its closing tag", () => {
    expect(reasoningTokens(["<th", "ink>", "so", "</th", "ink", ">", "four"])).toBe(6);
    expect(reasoningTokens(["four", "."])).toBe(0);
  });
});

describe("a sample without token values", () => {
  const policy = (tokens: string) =>
    ({ method: "policy_gradient", result: "causal_lm", config: { log: { tokens } } }) as Pick<
      Run,
      "method" | "result" | "config"
    >;
  const plain = { ...SAMPLE, tokens: null };

  it("says which setting logs them for all, beside samples that have them", () => {
    expect(unshadedBecause(policy("chosen"))).toBe(
      "This sample was logged without token values; `log.tokens: all` logs them for every sample.",
    );
    expect(noneShadedBecause(policy("chosen"), [plain])).toBe("");
  });

  it("leaves it to one sentence for all where the run logs none", () => {
    expect(unshadedBecause(policy("none"))).toBe("");
    expect(noneShadedBecause(policy("none"), [plain, plain])).toBe(
      "No token values were logged, because `log.tokens` is `none`.",
    );
    // Probes have theirs whatever the setting is.
    expect(noneShadedBecause(policy("none"), [SAMPLE])).toBe("");
  });

  it("has none in a run that trains nothing", () => {
    for (const [method, result] of [
      ["generate", "responses"],
      ["evaluate", "numbers"],
    ] as const) {
      const run = { method, result, config: {} };
      expect(unshadedBecause(run)).toBe("");
      expect(noneShadedBecause(run, [plain])).toBe("Runs that train nothing log no token values.");
      expect(noneShadedBecause(run, [])).toBe("");
    }
  });
});
