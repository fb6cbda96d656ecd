/** How all curves of a comparison are shown: axis, part, smoothing, scale, charts or tables; part of the address. */
import {
  AxisChoice,
  FormChoice,
  ScaleChoice,
  SmoothingChoice,
  ZoomEnd,
  ZoomHint,
} from "@/components/chart/curve-tools";
import { AXES, useView } from "@/features/compare/view";

export function CurveTools() {
  const { axis, zoom, smoothing, isLog, isTable, set, zoomTo } = useView();
  return (
    <div className="row compare-tools">
      <AxisChoice axis={axis} axes={AXES} set={set} />
      <SmoothingChoice smoothing={smoothing} set={set} />
      <ScaleChoice isLog={isLog} set={set} />
      <FormChoice isTable={isTable} set={set} />
      <ZoomEnd axis={axis} zoom={zoom} zoomTo={zoomTo} />
      <span className="grow" />
      {!isTable && <ZoomHint />}
    </div>
  );
}
