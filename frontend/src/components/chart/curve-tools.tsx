/** Choices above the charts of a page: their horizontal axis, charts or tables, and the zoom. */
import { zoomText } from "@/components/chart/window";
import type { Axis, Zoom } from "@/charts/live-curves";
import { USUAL_SMOOTHING } from "@/charts/smoothing";
import { Icon } from "@/components/icons";
import { Segmented } from "@/components/segmented";

const SHORT: Readonly<Record<Axis, string>> = {
  step: "Step",
  tokens: "Tokens",
  relative: "Relative",
  time: "Time",
};

/** Changes of the address; null removes a part of it. */
type Set = (changes: Readonly<Record<string, string | null>>) => void;

/** Another axis ends the zoom, whose places would mean nothing there. */
export function AxisChoice(props: {
  readonly axis: Axis;
  readonly axes: readonly [Axis, ...Axis[]];
  readonly set: Set;
}) {
  const [first] = props.axes;
  return (
    <Segmented
      label="Horizontal axis"
      value={props.axis}
      options={props.axes.map((axis) => [axis, SHORT[axis]] as const)}
      onChange={(axis) => props.set({ x: axis === first ? null : axis, zoom: null })}
    />
  );
}

const SMOOTHING = [
  ["0", "Raw"],
  ["0.6", "Smooth 0.6"],
  ["0.9", "0.9"],
] as const;

export function SmoothingChoice({
  smoothing,
  set,
}: {
  readonly smoothing: number;
  readonly set: Set;
}) {
  return (
    <Segmented
      label="Smoothing"
      value={String(smoothing)}
      options={SMOOTHING}
      onChange={(value) => set({ smooth: Number(value) === USUAL_SMOOTHING ? null : value })}
    />
  );
}

export function ScaleChoice({ isLog, set }: { readonly isLog: boolean; readonly set: Set }) {
  return (
    <Segmented
      label="Vertical scale"
      value={isLog ? "log" : "linear"}
      options={[
        ["linear", "Linear"],
        ["log", "Log"],
      ]}
      onChange={(value) => set({ scale: value === "log" ? "log" : null })}
    />
  );
}

export function FormChoice({ isTable, set }: { readonly isTable: boolean; readonly set: Set }) {
  return (
    <Segmented
      label="Show curves as"
      value={isTable ? "table" : "chart"}
      options={[
        ["chart", "Charts"],
        ["table", "Tables"],
      ]}
      onChange={(form) => set({ form: form === "table" ? "table" : null })}
    />
  );
}

/** Which part is shown; a click shows everything again. */
export function ZoomEnd(props: {
  readonly axis: Axis;
  readonly zoom: Zoom;
  readonly zoomTo: (zoom: Zoom) => void;
}) {
  if (props.zoom === null) return null;
  return (
    <button type="button" className="btn" onClick={() => props.zoomTo(null)}>
      <Icon name="close" /> Zoom {zoomText(props.axis, props.zoom)}
    </button>
  );
}

export const ZoomHint = ({ more = "" }: { readonly more?: string }) => (
  <span className="small faint wide">
    Drag to zoom all charts, or use a chart&rsquo;s menu; double-click to see everything{more}
  </span>
);
