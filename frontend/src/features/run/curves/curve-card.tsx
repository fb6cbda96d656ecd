/** One metric of one run as a chart with its newest value; drawn only while it can be seen. */
import { useEffect, useMemo, useRef, useState } from "react";
import type uPlot from "uplot";

import type { Curve, Zoom } from "@/charts/live-curves";
import { Plot, type Line } from "@/charts/plot";
import { smooth } from "@/charts/smoothing";
import type { View } from "@/features/run/view";
import { number, signed } from "@/lib/format";
import { useTheme } from "@/lib/theme";

import { unitOf } from "./curve-groups";

export interface CurveCardProps {
  readonly name: string;
  readonly curve: Curve;
  /** Grows with every change of the curve, which is changed in place. */
  readonly tick: number;
  readonly view: View;
  readonly colour?: string;
  readonly height?: number;
  readonly onZoom: (zoom: Zoom) => void;
  readonly onPick?: (x: number) => void;
}

const AHEAD = "240px";

function useIsSeen() {
  const ref = useRef<HTMLElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const watcher = new IntersectionObserver(([entry]) => setSeen(entry?.isIntersecting ?? false), {
      rootMargin: AHEAD,
    });
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  return [ref, isSeen] as const;
}

function lines(colour: string, isSmoothed: boolean, isBucketed: boolean): Line[] {
  const raw = { label: "raw", colour, width: 1.2, alpha: isSmoothed ? 0.28 : 1 };
  const smoothed = { label: "smoothed", colour, width: 1.8, isHidden: !isSmoothed };
  const edge = { label: "edge", colour, width: 0, isHidden: !isBucketed };
  return [raw, smoothed, edge, edge];
}

/** Columns as uPlot wants them: x, raw, smoothed, highest and lowest of each bucket. */
function columns(curve: Curve, smoothing: number, isLog: boolean): uPlot.AlignedData {
  const shown = (column: readonly (number | null)[]) =>
    isLog ? column.map((value) => (value !== null && value > 0 ? value : null)) : [...column];
  return [
    [...curve.x],
    shown(curve.mean),
    shown(smooth(curve.mean, smoothing)),
    shown(curve.max),
    shown(curve.min),
  ];
}

export function CurveCard(props: CurveCardProps) {
  const { name, curve, tick, view } = props;
  const theme = useTheme();
  const [ref, isSeen] = useIsSeen();
  const isBucketed = curve.max.some((value, i) => value !== curve.min[i]);
  const data = useMemo(
    () => columns(curve, view.smoothing, view.isLog),
    // The curve is changed in place; `tick` says when.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [curve, tick, view.smoothing, view.isLog],
  );
  const colour = props.colour ?? "--s1";
  const shape = useMemo(
    () => lines(colour, view.smoothing > 0, isBucketed),
    [colour, view.smoothing, isBucketed],
  );
  const known = curve.last.filter((value): value is number => value !== null);
  const last = known.at(-1);
  const first = known[0];
  const height = props.height ?? 176;
  const nNan = curve.nNan.reduce((sum, one) => sum + one, 0);
  const gaps = useMemo(
    () => curve.x.filter((_, i) => (curve.nNan[i] ?? 0) > 0),
    // As above.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [curve, tick],
  );
  return (
    <section className="card chart" ref={ref} aria-label={name}>
      <h3>
        <span className="mono clip" title={name}>
          {name}
        </span>
        <span className="unit">{unitOf(name)}</span>
        {first !== undefined && last !== undefined && known.length > 1 && (
          <span className="delta" title="Change since the first point">
            {signed(last - first)}
          </span>
        )}
        {nNan > 0 && (
          <span className="pill bad" title="Points whose value is NaN, infinite or missing">
            {number(nNan)} NaN
          </span>
        )}
        <span className="value" title="Newest value">
          {number(last)}
        </span>
      </h3>
      <div style={{ height }}>
        {isSeen && (
          <Plot
            data={data}
            lines={shape}
            bands={isBucketed ? [[3, 4]] : []}
            height={height}
            isLog={view.isLog}
            axis={view.axis}
            marks={gaps}
            syncKey={`run-${view.axis}`}
            zoom={view.zoom}
            theme={theme}
            label={`${name}: ${known.length} points, ${nNan > 0 ? `${nNan} of them without a value, ` : ""}newest ${number(last)}`}
            onZoom={props.onZoom}
            onPick={props.onPick}
          />
        )}
      </div>
    </section>
  );
}
