/** The head of a chart: what it shows, and the value that is newest or at the cursor. */
import type { ReactNode } from "react";

import { AboutMetric } from "@/components/metrics/about-metric";
import { unitOf } from "@/components/metrics/explained";
import type { View } from "@/features/run/view";
import { number, signed } from "@/lib/format";

import { knownOf, nNanOf, placeText, valuesOf } from "../columns";
import type { Drawn } from "../layout";

/** What stands in the head of a chart: the newest value, or that at the cursor of any chart. */
interface Reading {
  readonly value: number | null;
  readonly interval: string;
  /** Where the value stands; empty for the newest. */
  readonly place: string;
}

function readingOf(drawn: Drawn, view: View, place: number | null): Reading {
  const values = valuesOf(drawn);
  const index = place ?? values.findLastIndex((value) => value !== null);
  const x = drawn.curve.x[index];
  const end = (curve: Drawn["low"]) => {
    const found = curve?.x.indexOf(x ?? NaN) ?? -1;
    return curve?.last[found] ?? null;
  };
  const [low, high] = [end(drawn.low), end(drawn.high)];
  return {
    value: values[index] ?? null,
    interval: low === null || high === null ? "" : `95 % [${number(low)}, ${number(high)}]`,
    place: place === null || x === undefined ? "" : placeText(view.axis, x),
  };
}

/** The newest value less the first that is shown; of a metric that is itself a step, nothing. */
function Change({ drawn, view }: { drawn: Drawn; view: View }) {
  const known = knownOf(drawn);
  const [first, last] = [known[0], known.at(-1)];
  const isStep = drawn.explained.name.endsWith("best_step");
  if (first === undefined || last === undefined || isStep) return null;
  return (
    <span className="mono" title="Newest value less the first that is shown">
      {signed(last - first)} {view.zoom === null ? "since start" : "in this part"}
    </span>
  );
}

export function CurveHead(props: {
  drawn: Drawn;
  view: View;
  /** The point at the cursor of any chart; null = there is no cursor. */
  place: number | null;
  /** Whether a screen reader says what is at the cursor. */
  isReadAloud: boolean;
  /** By what it is moved, if it can be. */
  grip: ReactNode;
  /** What can be done with the chart. */
  menu: ReactNode;
}) {
  const { drawn } = props;
  const { explained } = drawn;
  const reading = readingOf(drawn, props.view, props.place);
  const nNan = nNanOf(drawn);
  // The line is its smoothed course; the number is one value.
  const isSmoothed = props.view.smoothing > 0 && !explained.isEvaluation && reading.place === "";
  return (
    <header>
      <div className="row">
        {props.grip}
        <h3 className="clip" title={explained.title}>
          {explained.title}
        </h3>
        <AboutMetric explained={explained} />
        <span className="grow" />
        {nNan > 0 && (
          <span className="pill bad" title="Points whose value is NaN, infinite or missing">
            {number(nNan)} NaN
          </span>
        )}
        <span className="value" title={reading.place === "" ? "Newest value" : reading.place}>
          {isSmoothed && <span className="faint small">last </span>}
          {number(reading.value)}
        </span>
        {props.menu}
      </div>
      <p>
        <span className="clip">
          {explained.title !== explained.name && <span className="mono">{explained.name}</span>}
          <span className="unit">{unitOf(explained)}</span>
        </span>
        <span className="grow" />
        {reading.interval !== "" && <span className="mono">{reading.interval}</span>}
        {reading.place !== "" && <span className="mono at">{reading.place}</span>}
        {reading.place === "" && reading.interval === "" && (
          <Change drawn={drawn} view={props.view} />
        )}
      </p>
      <span className="sr-only" aria-live="polite">
        {props.isReadAloud && reading.place !== "" && `${reading.place}: ${number(reading.value)}`}
      </span>
    </header>
  );
}
