/** How all curves of a comparison are shown: axis, part, charts or tables; part of the address. */
import { zoomText } from "@/components/chart/window";
import { Icon } from "@/components/icons";
import { Segmented } from "@/components/segmented";
import { useView } from "@/features/compare/view";

export function CurveTools() {
  const { axis, zoom, isTable, set, zoomTo } = useView();
  return (
    <div className="row compare-tools">
      <Segmented
        label="Horizontal axis"
        value={axis}
        options={[
          ["step", "Step"],
          ["tokens", "Tokens"],
          ["relative", "Relative"],
        ]}
        onChange={(next) => set({ x: next === "step" ? null : next, zoom: null })}
      />
      <Segmented
        label="Form"
        value={isTable ? "table" : "chart"}
        options={[
          ["chart", "Charts"],
          ["table", "Tables"],
        ]}
        onChange={(form) => set({ form: form === "table" ? "table" : null })}
      />
      {zoom !== null && (
        <button type="button" className="btn" onClick={() => zoomTo(null)}>
          <Icon name="close" /> Zoom {zoomText(axis, zoom)}
        </button>
      )}
      <span className="grow" />
      {!isTable && (
        <span className="small faint wide">
          Drag to zoom all charts, double-click to see everything
        </span>
      )}
    </div>
  );
}
