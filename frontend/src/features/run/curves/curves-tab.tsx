/** Every metric of a run, live. */
import { useState } from "react";

import type { LiveCurves } from "@/charts/live-curves";
import { Icon } from "@/components/icons";
import { Segmented } from "@/components/segmented";
import { Empty, Skeleton } from "@/components/states";
import { useView } from "@/features/run/view";

import { CurveCard } from "./curve-card";
import { grouped } from "./curve-groups";

const SMOOTHING = [
  ["0", "Raw"],
  ["0.6", "Smooth 0.6"],
  ["0.9", "0.9"],
] as const;

export function ViewTools() {
  const { view, set, zoomTo } = useView();
  return (
    <div className="tools">
      <Segmented
        label="Horizontal axis"
        value={view.axis}
        options={[
          ["step", "Step"],
          ["tokens", "Tokens"],
          ["relative", "Relative"],
          ["time", "Time"],
        ]}
        onChange={(axis) => set({ x: axis === "step" ? null : axis, zoom: null })}
      />
      <Segmented
        label="Smoothing"
        value={String(view.smoothing)}
        options={SMOOTHING}
        onChange={(value) => set({ smooth: value === "0.6" ? null : value })}
      />
      <Segmented
        label="Vertical scale"
        value={view.isLog ? "log" : "linear"}
        options={[
          ["linear", "Linear"],
          ["log", "Log"],
        ]}
        onChange={(value) => set({ scale: value === "log" ? "log" : null })}
      />
      {view.zoom !== null && (
        <button type="button" className="btn" onClick={() => zoomTo(null)}>
          <Icon name="close" /> Zoom {Math.round(view.zoom[0])}–{Math.round(view.zoom[1])}
        </button>
      )}
      <span className="grow" />
      <span className="small faint wide">
        Drag to zoom all charts, double-click to see everything
      </span>
    </div>
  );
}

export interface CurvesTabProps {
  readonly live: LiveCurves;
  readonly tick: number;
  readonly isLoaded: boolean;
  readonly isWaiting: boolean;
  readonly onPick: (step: number) => void;
}

export function CurvesTab({ live, tick, isLoaded, isWaiting, onPick }: CurvesTabProps) {
  const { view, zoomTo } = useView();
  const [filter, setFilter] = useState("");
  const names = [...live.curves.keys()].filter((name) => name.includes(filter.trim()));
  if (live.curves.size === 0 && !isLoaded) return <Skeleton label="Loading the curves" />;
  if (live.curves.size === 0)
    return (
      <section className="card">
        <Empty icon="runs" title={isWaiting ? "No metrics yet" : "No metrics"}>
          {isWaiting
            ? "Curves appear here when the run reports its first metrics."
            : "The run ended before it reported a metric. The Logs tab may say why."}
        </Empty>
      </section>
    );
  return (
    <>
      <div className="row spread">
        <ViewTools />
        <input
          className="input filter"
          type="search"
          placeholder="Filter metrics"
          aria-label="Filter metrics"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      </div>
      {grouped(names).map((group) => (
        <section key={group.title} className="curve-group">
          <h2>{group.title}</h2>
          <div className="curve-grid">
            {group.names.map((name) => {
              const curve = live.curves.get(name);
              return curve === undefined ? null : (
                <CurveCard
                  key={name}
                  name={name}
                  curve={curve}
                  tick={tick}
                  view={view}
                  onZoom={zoomTo}
                  {...(view.axis === "step" && { onPick })}
                />
              );
            })}
          </div>
        </section>
      ))}
      {names.length === 0 && <p className="muted">No metric has “{filter}” in its name.</p>}
    </>
  );
}
