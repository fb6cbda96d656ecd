/** Every metric of a run, live: the charts that tell most, the rest folded, single values listed. */
import type { Run } from "@/api/types";
import type { LiveCurves } from "@/charts/live-curves";
import { useExplain } from "@/components/metrics/use-explain";
import { Empty, Skeleton } from "@/components/states";
import type { SampleKind } from "@/lib/address/samples";
import { noMetrics } from "@/features/run/run-status";
import { onAxis, useView } from "@/features/run/view";

import { useSaid } from "../verdict/use-verdict";
import { usePins } from "./arrange/use-pins";
import { Charts } from "./charts";
import { Distributions } from "./distributions/distributions";
import { isEmpty, layOut, rangeOf } from "./layout";
import { MarkerLegend } from "./markers/marker-legend";
import { useMarkers } from "./markers/use-markers";
import { SingleValues } from "./single-values";
import { ViewTools } from "./view-tools";

export interface CurvesTabProps {
  readonly run: Run;
  readonly live: LiveCurves;
  readonly tick: number;
  readonly isLoaded: boolean;
  readonly isWaiting: boolean;
  /** A step was clicked, of training or of an evaluation. */
  readonly onPick: ((step: number, kind: SampleKind) => void) | undefined;
  /** Metrics that another part of the page shows. */
  readonly shownElsewhere: ReadonlySet<string>;
}

export function CurvesTab(props: CurvesTabProps) {
  const { run, live, tick, isLoaded, isWaiting, onPick } = props;
  const { view: asked, search, set } = useView();
  // Until the curves are here that the reader asks for, those that are shown keep their axis.
  const view = onAxis(asked, live.axis);
  const explain = useExplain(run.method);
  const [pins, setPins] = usePins(run.project_id);
  const { judge, saidOf } = useSaid(run);
  const markers = useMarkers(run.id, live, tick, explain);
  if (live.curves.size === 0 && isLoaded)
    return (
      <section className="card">
        <Empty icon="runs" title={isWaiting ? "No metrics yet" : "No metrics"}>
          {isWaiting
            ? "Curves appear here when the run reports its first metrics."
            : noMetrics(run)}
        </Empty>
      </section>
    );
  if (live.curves.size === 0 || explain === undefined)
    return <Skeleton label="Loading the curves" />;
  const wanted = search.get("metric") ?? "";
  const layout = layOut(live.curves, explain, wanted, pins, judge);
  // What the table of sets shows already is a single value only where it is looked for.
  const single = layout.single.filter(
    ({ explained }) => wanted !== "" || !props.shownElsewhere.has(explained.name),
  );
  const hasCharts = wanted !== "" || layout.pinned.length + layout.first.length > 0;
  return (
    <>
      <div className="row curves-bar">
        {hasCharts ? <ViewTools /> : <span className="grow" />}
        <input
          className="input filter"
          type="search"
          placeholder="Find a metric"
          aria-label="Find a metric"
          value={wanted}
          onChange={(event) => set({ metric: event.target.value || null })}
        />
      </div>
      {hasCharts && <MarkerLegend {...markers} />}
      <Charts
        layout={layout}
        pins={pins}
        setPins={setPins}
        isSearched={wanted.trim() !== ""}
        shared={{
          ...{ run, tick, view, markers: markers.shown, saidOf },
          ...(view.axis === "step" && onPick !== undefined && { onPick }),
        }}
      />
      <Distributions
        run={run}
        live={live}
        range={rangeOf([...layout.pinned, ...layout.first])}
        isSearched={wanted !== ""}
        view={view}
        onPick={onPick}
      />
      <SingleValues values={single} view={view} />
      {wanted !== "" && isEmpty(layout) && (
        <p className="muted">No metric has “{wanted}” in its title or name.</p>
      )}
    </>
  );
}
