/**
 * The one wrapper around uPlot: columns in, canvas out.
 *
 * New data never moves the reader's zoom; the zoom itself belongs to the caller (it stands in the
 * URL), so that all charts of a page zoom together. The cursor of one is the cursor of all with the
 * same key; a chart with the focus moves it by arrow keys.
 */
import "uplot/dist/uPlot.min.css";
import "./plot.css";

import { useEffect, useRef, type KeyboardEvent } from "react";
import type uPlot from "uplot";

import { KeptPlot, pointedAt, shapeOf, type PlotProps } from "./kept-plot";

export type { Edges, Line, PlotProps } from "./kept-plot";

export function Plot(props: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const kept = useRef<KeptPlot>(null);
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });

  useEffect(() => {
    if (box.current === null) return;
    const made = new KeptPlot(box.current, latest);
    kept.current = made;
    return () => {
      kept.current = null;
      made.end();
    };
  }, []);

  const [from, to] = props.range ?? [null, null];
  const shape = shapeOf(props);
  useEffect(() => kept.current?.draw(), [props.data, from, to, shape]);

  // With its axes: a chart that was made just now has none yet, and an empty one never gets any.
  useEffect(() => kept.current?.plot?.redraw(false, true), [props.places]);

  const onKeyDown = (event: KeyboardEvent) => {
    const plot = kept.current?.plot ?? null;
    if (plot === null || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter") {
      const x = pointedAt(plot);
      if (x !== null) props.onPick?.(x);
    } else if (event.key === "Escape" && plot.cursor.idx != null) hideCursor(plot);
    else if (!stepped(plot, event.key, event.shiftKey)) return;
    event.preventDefault();
  };
  const onBlur = () => {
    if (kept.current?.plot != null) hideCursor(kept.current.plot);
  };
  return (
    <div
      className="plot"
      ref={box}
      role="img"
      aria-label={props.label}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onBlur={onBlur}
    />
  );
}

/** uPlot's own types leave out the last argument: whether the other charts are told. */
type SetCursor = (at: { left: number; top: number }, isFired: boolean, isTold: boolean) => void;

function setCursor(plot: uPlot, left: number, top: number): void {
  (plot.setCursor as SetCursor)({ left, top }, true, true);
}

const hideCursor = (plot: uPlot) => setCursor(plot, -10, -10);

const MANY = 10;

/** Whether a key has moved the cursor from point to point of what is shown. */
function stepped(plot: uPlot, key: string, isFar: boolean): boolean {
  const xs = Array.from(plot.data[0]);
  const { min, max } = plot.scales["x"] ?? {};
  const first = xs.findIndex((x) => x >= (min ?? -Infinity));
  const last = xs.findLastIndex((x) => x <= (max ?? Infinity));
  if (first < 0 || last < first) return false;
  const far = isFar ? MANY : 1;
  const now = plot.cursor.idx ?? null;
  const wanted: Readonly<Record<string, number>> = {
    ArrowLeft: now === null ? last : now - far,
    ArrowRight: now === null ? first : now + far,
    Home: first,
    End: last,
  };
  const next = wanted[key];
  if (next === undefined) return false;
  const x = xs[Math.min(last, Math.max(first, next))];
  if (x !== undefined) setCursor(plot, plot.valToPos(x, "x"), plot.over.clientHeight / 2);
  return true;
}
