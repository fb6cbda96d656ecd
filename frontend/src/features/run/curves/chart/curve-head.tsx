/** The head of a chart: what it shows, and the value that is newest or at the cursor. */
import type { ReactNode } from "react";

import {
  isBucketed,
  nNanOf,
  nNotPositive,
  valuesOf,
  vertexText,
  type Drawn,
} from "@/components/chart/columns";
import { NanPill } from "@/components/chart/nan-pill";
import { AboutMetric } from "@/components/metrics/about-metric";
import { isStep, unitOf } from "@/components/metrics/explained";
import type { View } from "@/features/run/view";
import { between, number, signed, type Span } from "@/lib/format";

import type { MetricSaid } from "../../verdict/metric-said";
import { fifthsOf, type Fifths } from "./fifths";

/** What stands in the head of a chart: the newest value, or that at the cursor of any chart. */
interface Reading {
  readonly value: number | null;
  readonly interval: string;
  /** Of what single steps measured, instead of the newest of them. */
  readonly fifths: Fifths | null;
  /** What the value is and where it stands; empty for the newest. */
  readonly place: string;
}

function intervalOf(span: Span): string {
  const text = between(span);
  return text.startsWith("[") ? `95 % ${text}` : text;
}

function readingOf(drawn: Drawn, view: View, place: number | null): Reading {
  const index = place ?? drawn.curve.last.findLastIndex((value) => value !== null);
  const x = drawn.curve.x[index];
  const end = (curve: Drawn["low"]) => {
    const found = curve?.x.indexOf(x ?? NaN) ?? -1;
    return curve?.last[found] ?? null;
  };
  const [low, high] = [end(drawn.low), end(drawn.high)];
  const isWhole = place === null && drawn.curve.part === null;
  const fifths = isWhole && !drawn.explained.isEvaluation ? fifthsOf(drawn.curve) : null;
  const newest = fifths?.last ?? drawn.curve.ends.newest;
  return {
    value: place === null ? newest : (valuesOf(drawn)[place] ?? null),
    fifths,
    interval: low === null || high === null ? "" : intervalOf({ low, high }),
    place: place === null || x === undefined ? "" : vertexText(drawn, view.axis, place),
  };
}

/**
 * The first value of all, beside the newest: the difference of two single steps may be noise. Of a
 * part its last value less its first; of a metric that is a step, nothing.
 */
function First({ drawn: { curve, explained }, fifths }: { drawn: Drawn; fifths: Fifths | null }) {
  if (fifths !== null)
    return (
      <span className="mono" title="Mean of the first fifth of its values">
        first fifth {number(fifths.first)}
      </span>
    );
  const { first, newest } = curve.part ?? curve.ends;
  if (first === null || newest === null || isStep(explained.name)) return null;
  if (curve.part === null)
    return (
      <span className="mono" title="First value">
        first {number(first)}
      </span>
    );
  return (
    <span className="mono" title="Last value of this part less its first">
      {signed(newest - first)} in this part
    </span>
  );
}

const SAID: Readonly<Record<MetricSaid, readonly [string, string]>> = {
  decides: ["active", "The verdict rests on this metric"],
  exploited: [
    "warn verdict-pill",
    "The training reward rose while what was measured outside the run fell",
  ],
};

function Said({ said }: { said: MetricSaid | null }) {
  if (said === null) return null;
  const [tone, title] = SAID[said];
  return (
    <span className={`pill ${tone}`} title={title}>
      {said}
    </span>
  );
}

/** Points that the line leaves out, and why. */
function LeftOut({ drawn, isLog }: { drawn: Drawn; isLog: boolean }) {
  const [nNan, nHidden] = [nNanOf(drawn), isLog ? nNotPositive(drawn) : 0];
  const places = isBucketed(drawn.curve) ? "Buckets" : "Points";
  return (
    <>
      <NanPill n={nNan} />
      {nHidden > 0 && (
        <span
          className="pill warn"
          title={`${places} with a value or an end of an interval of 0 or less, which a logarithmic scale cannot draw`}
        >
          {number(nHidden)} at ≤ 0
        </span>
      )}
    </>
  );
}

export function CurveHead(props: {
  drawn: Drawn;
  view: View;
  /** The point at the cursor of any chart; null = there is no cursor. */
  place: number | null;
  /** What the verdict says of the metric. */
  said: MetricSaid | null;
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
  // The line is its smoothed course; the number is one value.
  const isSmoothed = props.view.smoothing > 0 && !explained.isEvaluation && reading.place === "";
  const isMean = reading.fifths !== null;
  const newest = number(drawn.curve.ends.newest);
  const what = isMean
    ? `Mean of the last fifth of its values; the newest is ${newest}`
    : "Newest value";
  return (
    <header>
      <div className="row">
        {props.grip}
        <h3 className="clip" title={explained.title}>
          {explained.title}
        </h3>
        <AboutMetric explained={explained} />
        <Said said={props.said} />
        <span className="grow" />
        <LeftOut drawn={drawn} isLog={props.view.isLog} />
        <span className="value" title={reading.place === "" ? what : reading.place}>
          {(isSmoothed || isMean) && (
            <span className="faint small">{isMean ? "last fifth " : "last "}</span>
          )}
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
          <First drawn={drawn} fifths={reading.fifths} />
        )}
      </p>
      <span className="sr-only" aria-live="polite">
        {props.isReadAloud && reading.place !== "" && `${reading.place}: ${number(reading.value)}`}
      </span>
    </header>
  );
}
