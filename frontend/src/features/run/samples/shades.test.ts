import { describe, expect, it } from "vitest";

import type { Sample } from "@/api/types";

import { background, reasoningTokens, scaleOf, shadesOf } from "./shades";

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
    expect(background(2, 1, "kl")).toBe(background(-2, 1, "advantage"));
    expect(background(0.5, 1, "change")).toContain("--s3) 24.0%");
    expect(background(null, 1, "kl")).toBeUndefined();
    expect(background(1, 0, "kl")).toBeUndefined();
  });
});

describe("reasoning", () => {
  it("ends with the token that completes its closing tag", () => {
    expect(reasoningTokens(["<th", "ink>", "so", "</th", "ink", ">", "four"])).toBe(6);
    expect(reasoningTokens(["four", "."])).toBe(0);
  });
});
