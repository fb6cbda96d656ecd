import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";

import type { Sample } from "@/api/types";

import { Tokens } from "./tokens";

const THOUGHT = ["<think>", "First", " carry", "</think>"];
const sample = (tokens: readonly string[] | null): Sample =>
  ({
    response: "<think>First carry</think>Then add",
    tokens,
    kl: tokens?.map(() => 0.5) ?? null,
  }) as unknown as Sample;

const shown = (tokens: readonly string[] | null, q: string) =>
  renderToStaticMarkup(
    <Tokens {...{ sample: sample(tokens), unshaded: "", q }} shading={{ shade: "kl", scale: 1 }} />,
  );

it.each([
  ["shaded", [...THOUGHT, "Then", " add"]],
  ["plain", null],
])("marks what is searched for, and opens the reasoning that has it: %s", (_, tokens) => {
  const inside = shown(tokens, "carry");
  expect(inside).toContain("<mark>carry</mark>");
  expect(inside).toContain('<details class="think" open="">');

  const behind = shown(tokens, "ADD");
  expect(behind).toContain("<mark>add</mark>");
  expect(behind).toContain('<details class="think">');

  expect(shown(tokens, "")).not.toContain("<mark>");
});
