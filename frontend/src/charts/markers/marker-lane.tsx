/**
 * What happened to the run, above a plot: a sign at each place, with its sentences on hover and
 * focus. It takes room of its own, so that it covers no data. One stop of the Tab key; arrow keys
 * go from place to place.
 */
import "./markers.css";

import { useState, type KeyboardEvent } from "react";

import { countText, told, type Cluster, type Frame } from "./folding";
import { Glyph } from "./glyph";

const TIP_PX = 280;

export function MarkerLane(props: {
  clusters: readonly Cluster[];
  frame: Frame | null;
  placeText: (x: number) => string;
  onZoom: (from: number, to: number) => void;
  /** Which place is pointed at, by mouse or focus. */
  onPoint: (cluster: Cluster | null) => void;
}) {
  const { clusters, frame, placeText } = props;
  const [shown, setShown] = useState<number | null>(null);
  const point = (place: number | null) => {
    setShown(place);
    props.onPoint(place === null ? null : (clusters[place] ?? null));
  };
  const [stop, setStop] = useState(0);
  const open = shown === null ? undefined : clusters[shown];
  const last = clusters.length - 1;
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key === "Escape") point(null);
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
          key={`${cluster.from} ${cluster.kind}`}
          type="button"
          style={{ left: cluster.px }}
          tabIndex={place === Math.min(stop, last) ? 0 : -1}
          aria-label={spoken(cluster, placeText)}
          onFocus={() => {
            setStop(place);
            point(place);
          }}
          onBlur={() => point(null)}
          onPointerEnter={() => point(place)}
          onPointerLeave={() => point(null)}
          onClick={() => cluster.to > cluster.from && props.onZoom(cluster.from, cluster.to)}
        >
          <Glyph kind={cluster.kind} />
          <Count text={countText(cluster)} />
        </button>
      ))}
      {open !== undefined && frame !== null && <Tip {...{ cluster: open, frame, placeText }} />}
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
