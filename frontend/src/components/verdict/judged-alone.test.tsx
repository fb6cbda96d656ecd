import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import { JudgedAlone, VerdictChange } from "./judged-alone";

const CHANGE = { change: "+0.060 [0.002, 0.116]" };

test("of three changes or more it is said how often chance gives a clear one", () => {
  const said = (changes: readonly { change: string }[]) =>
    renderToStaticMarkup(<JudgedAlone verdicts={changes} />);
  expect(said([CHANGE, CHANGE, CHANGE])).toContain(
    "Each run is judged alone; of runs that do not change, about one in twenty shows a clear",
  );
  expect(said([CHANGE, CHANGE])).toBe("");
  expect(said([CHANGE, CHANGE, { change: "" }])).toBe("");
});

test("a verdict that rests on no change shows none", () => {
  expect(renderToStaticMarkup(<VerdictChange verdict={CHANGE} />)).toContain(CHANGE.change);
  expect(renderToStaticMarkup(<VerdictChange verdict={{ change: "" }} />)).toBe("");
});
