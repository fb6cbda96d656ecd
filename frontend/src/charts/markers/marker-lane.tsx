/**
 * What happened to the run, above a plot: a sign at each place, with its sentences on hover and
 * focus. It takes room of its own, so that it covers no data. One stop of the Tab key; arrow keys
 * go from place to place.
 */
import "./markers.css";

import { useState, type KeyboardEvent } from "react";

import { countText, placeOf, told, type Cluster, type Frame } from "./folding";
import { Glyph } from "./glyph";

const TIP_PX = 280;

export function MarkerLane(props: {
  clusters: readonly Cluster[];
  frame: Frame | null;
  placeText: (x: number) => string;
  onZoom: (from: number, to: number) => void;
  /** The place that is pointed at. */
  pointedAt: Cluster | null;
  /** A place is pointed at, by mouse or focus; by where it begins, as places fold anew. */
  onPoint: (from: number | null) => void;
}) {
  const { clusters, frame, placeText, pointedAt, onPoint } = props;
  const [stopAt, setStopAt] = useState(-Infinity);
  const stop = placeOf(clusters, stopAt);
  const last = clusters.length - 1;
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key === "Escape") onPoint(null);
    const next = { ArrowLeft: stop - 1, ArrowRight: stop + 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const place = Math.min(last, Math.max(0, next));
    event.currentTarget.querySelectorAll("button")[place]?.focus();
  };
  return (
    <div className="marker-lane" role="group" aria-label="Markers" onKeyDown={onKeyDown}>
      {clusters.map((cluster, place) => (
        <button
          key={cluster.from}
          type="button"
          style={{ left: cluster.px }}
          tabIndex={place === stop ? 0 : -1}
          aria-label={spoken(cluster, placeText)}
          onFocus={() => {
            setStopAt(cluster.from);
            onPoint(cluster.from);
          }}
          onBlur={() => onPoint(null)}
          onPointerEnter={() => onPoint(cluster.from)}
          onPointerLeave={() => onPoint(null)}
          onClick={() => cluster.to > cluster.from && props.onZoom(cluster.from, cluster.to)}
        >
          <Glyph kind={cluster.kind} />
          <Count text={countText(cluster)} />
        </button>
      ))}
      {pointedAt !== null && frame !== null && (
        <Tip {...{ cluster: pointedAt, frame, placeText }} />
      )}
    </div>
  );
}

const Count = ({ text }: { text: string }) => (text === "" ? null : <span>{text}</span>);

function Tip(props: { cluster: Cluster; frame: Frame; placeText: (x: number) => string }) {
  const { cluster, frame } = props;
  const { lines, rest } = told(cluster, props.placeText);
  const width = Math.min(TIP_PX, frame.left + frame.width);
  const left = Math.max(0, Math.min(cluster.px - width / 2, frame.left + frame.width - width));
  return (
    // Said by the name of the button already.
    <div className="marker-tip" aria-hidden="true" style={{ left, width }}>
      {lines.map((line, place) => (
        <p key={place}>{line}</p>
      ))}
      {rest > 0 && (
        <p className="faint">and {rest.toLocaleString("en-US")} more; click to zoom in</p>
      )}
    </div>
  );
}

function spoken(cluster: Cluster, placeText: (x: number) => string): string {
  const { lines, rest } = told(cluster, placeText);
  return rest === 0 ? lines.join(" ") : `${lines.join(" ")} And ${rest} more.`;
}
