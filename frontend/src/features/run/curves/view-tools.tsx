/** How the charts of a run are shown: axis, smoothing, scale, charts or tables; part of the address. */
import { AxisChoice, FormChoice, ZoomEnd, ZoomHint } from "@/components/chart/curve-tools";
import { Segmented } from "@/components/segmented";
import { AXES, useView } from "@/features/run/view";

const SMOOTHING = [
  ["0", "Raw"],
  ["0.6", "Smooth 0.6"],
  ["0.9", "0.9"],
] as const;

const FLOOR_HINT = ". Axes leave noise small; a part that you zoom into fills them.";

export function ViewTools() {
  const { view, set, zoomTo } = useView();
  return (
    <div className="view-tools">
      <AxisChoice axis={view.axis} axes={AXES} set={set} />
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
      <FormChoice isTable={view.isTable} set={set} />
      <ZoomEnd axis={view.axis} zoom={view.zoom} zoomTo={zoomTo} />
      <span className="grow" />
      {!view.isTable && <ZoomHint more={view.isLog ? "" : FLOOR_HINT} />}
    </div>
  );
}
