/** How the charts of a run are shown: axis, smoothing, scale, charts or tables; part of the address. */
import { zoomText } from "@/components/chart/window";
import { Icon } from "@/components/icons";
import { Segmented } from "@/components/segmented";
import { useView } from "@/features/run/view";

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
      <Segmented
        label="Form"
        value={view.isTable ? "table" : "chart"}
        options={[
          ["chart", "Charts"],
          ["table", "Tables"],
        ]}
        onChange={(form) => set({ as: form === "table" ? "table" : null })}
      />
      {view.zoom !== null && (
        <button type="button" className="btn" onClick={() => zoomTo(null)}>
          <Icon name="close" /> Zoom {zoomText(view.axis, view.zoom)}
        </button>
      )}
      <span className="grow" />
      <span className="small faint wide">
        Drag to zoom all charts, double-click to see everything
      </span>
    </div>
  );
}
