import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import type { Curve } from "@/charts/live-curves";
import { explainer } from "@/components/metrics/explained";
import { curveOfSteps } from "@testing/curves";

import type { View } from "../../view";
import { CurveHead } from "./curve-head";

const VIEW: View = { axis: "step", isLog: false, isTable: false, smoothing: 0, zoom: null };

function shown(said: "decides" | "exploited" | null, part: Curve["part"] = null): string {
  const drawn = {
    ...{ explained: explainer([])("reward/mean"), curve: curveOfSteps([0.5, 0.75, 1.5], { part }) },
    ...{ low: null, high: null },
  };
  const page = renderToStaticMarkup(
    <CurveHead
      {...{ drawn, view: VIEW, place: null, said, isReadAloud: false, grip: null, menu: null }}
    />,
  );
  return page;
}

test("the head of a chart shows the first value beside the newest, not their difference", () => {
  expect(shown(null)).toContain("first 0.500");
  expect(shown(null)).toContain("1.50");
  expect(shown(null)).not.toContain("+1");
});

test("of a part it shows how it moved within it", () => {
  expect(shown(null, { n: 2, first: 0.75, newest: 1.5 })).toContain("+0.750 in this part");
});

test("it says that the metric decides, or what shows that it was exploited", () => {
  expect(shown("decides")).toContain(">decides<");
  expect(shown("exploited")).toContain(
    'title="The training reward rose while what was measured outside the run fell">exploited<',
  );
  expect(shown(null)).not.toContain("pill");
});
