/** How the charts of a run are shown: axis, smoothing, scale, charts or tables; part of the address. */
import {
  AxisChoice,
  FormChoice,
  ScaleChoice,
  SmoothingChoice,
  ZoomEnd,
  ZoomHint,
} from "@/components/chart/curve-tools";
import { AXES, useView } from "@/features/run/view";

const FLOOR_HINT = ". Axes leave noise small; a part that you zoom into fills them.";

export function ViewTools() {
  const { view, set, zoomTo } = useView();
  return (
    <div className="view-tools">
      <AxisChoice axis={view.axis} axes={AXES} set={set} />
      <SmoothingChoice smoothing={view.smoothing} set={set} />
      <ScaleChoice isLog={view.isLog} set={set} />
      <FormChoice isTable={view.isTable} set={set} />
      <ZoomEnd axis={view.axis} zoom={view.zoom} zoomTo={zoomTo} />
      <span className="grow" />
      {!view.isTable && <ZoomHint more={view.isLog ? "" : FLOOR_HINT} />}
    </div>
  );
}
