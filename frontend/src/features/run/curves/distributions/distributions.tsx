/** Heat maps of a run: how reward, length and advantage are spread; asked for when unfolded. */
import { useQuery } from "@tanstack/react-query";

import { distributionsQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import type { LiveCurves, Zoom } from "@/charts/live-curves";
import { Loaded } from "@/components/states";
import type { SampleKind } from "@/lib/address/samples";
import { listedIn, toggledIn, useView, type View } from "@/features/run/view";

import { DistributionCard } from "./distribution-card";
import { useSlowly } from "./use-slowly";

/** As many as a chart has pixels that can be told apart. */
const COLUMNS = 300;
const TITLE = "Distributions";
const REFRESH_MS = 5_000;
const ORDER = ["reward", "length", "advantage"];

interface DistributionsProps {
  readonly run: Run;
  readonly live: LiveCurves;
  /** Least and greatest x of all charts of the page. */
  readonly range: Zoom;
  /** Whether the reader looks for a metric. */
  readonly isSearched: boolean;
  readonly view: View;
  /** A step was clicked. */
  readonly onPick: ((step: number, kind: SampleKind) => void) | undefined;
}

export function Distributions(props: DistributionsProps) {
  const { search, set } = useView();
  const isOpen = listedIn(search, "open").includes(TITLE);
  if (props.run.method !== "policy_gradient" || props.isSearched) return null;
  return (
    <details className="curve-group" open={isOpen}>
      <summary
        onClick={(event) => {
          event.preventDefault();
          set((now) => toggledIn(now, "open", TITLE));
        }}
      >
        <h2>{TITLE}</h2>
        <span className="small faint clip titles">
          how reward, length and advantage are spread, step by step
        </span>
      </summary>
      {isOpen && <HeatMaps {...props} />}
    </details>
  );
}

function HeatMaps({ run, live, range, view, onPick }: DistributionsProps) {
  const { view: asked, zoomTo } = useView();
  const newest = useSlowly(live.curves.get("reward/mean")?.x.at(-1) ?? 0, REFRESH_MS);
  const [from, to] = view.zoom ?? [null, null];
  const query = useQuery(
    distributionsQuery(run.id, { x: view.axis, from, to, points: COLUMNS }, newest),
  );
  return (
    <Loaded query={query} lines={4}>
      {({ items }) =>
        items.length === 0 ? (
          <p className="gpu-note small muted">
            {view.zoom === null
              ? "This run logged no distributions; policy_gradient runs do so at every step."
              : "No step lies in the part that is shown."}
          </p>
        ) : (
          <div className="curve-rows">
            <p className="gpu-note small faint">
              The stronger the colour, the larger the share of a step’s values. The line is the
              median; the dashed lines are 5 and 95 %.
            </p>
            <div className="curve-grid">
              {[...items]
                .sort((a, b) => ORDER.indexOf(a.name) - ORDER.indexOf(b.name))
                .map((spread) => (
                  <DistributionCard
                    key={spread.name}
                    run={run}
                    spread={spread}
                    view={view}
                    range={view.zoom ?? range}
                    onZoom={(zoom) => asked.axis === view.axis && zoomTo(zoom)}
                    onPick={
                      view.axis === "step" ? onPick && ((x) => onPick(x, "rollout")) : undefined
                    }
                  />
                ))}
            </div>
          </div>
        )
      }
    </Loaded>
  );
}
