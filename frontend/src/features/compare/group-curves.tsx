/** A chart per metric: each group's mean with its band, and its runs as thin lines. */
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";

import { metricsQuery } from "@/api/runs";
import { groupCurvesQuery } from "@/api/seed-groups";
import type { GroupCurve, Run, SeedGroups } from "@/api/types";
import { curveOf, type Zoom } from "@/charts/live-curves";
import { Plot } from "@/charts/plot";
import { AboutMetric } from "@/components/metrics/about-metric";
import { unitOf, type Explain } from "@/components/metrics/explained";
import { useExplain } from "@/components/metrics/use-explain";
import { Failure, Skeleton } from "@/components/states";
import { number, plural } from "@/lib/format";
import { useTheme } from "@/lib/theme";

import { drawn } from "./columns";
import { colourOf } from "@/components/seed-groups/group-names";
import { MeasuredApart } from "./measured-apart";
import { legendOf, readingAt } from "./reading";
import { figuresOf, firstNames, useView } from "./view";

const POINTS = 300;
const HEIGHT = 240;

interface Shared {
  readonly answer: SeedGroups;
  readonly explain: Explain;
  readonly refetchMs: number | false;
  readonly zoom: Zoom;
  readonly onZoom: (zoom: Zoom) => void;
}

function MetricCard(props: Shared & { name: string }) {
  const { name, answer, explain, refetchMs: refetchInterval, zoom, onZoom } = props;
  const { runIds, hidden } = useView();
  const theme = useTheme();
  const explained = explain(name);
  const { title } = explained;
  const groups = useQuery({ ...groupCurvesQuery(runIds, name, POINTS), refetchInterval });
  const runs = useQuery({
    ...metricsQuery(runIds, { names: name, points: POINTS }),
    refetchInterval,
  });
  const [place, setPlace] = useState<number | null>(null);
  const [isFocused, setFocused] = useState(false);
  const hiddenRuns = [...hidden].join();
  const groupOf = new Map(
    answer.groups.flatMap((group, place) => group.runs.map((run) => [run, place] as const)),
  );
  const shown = useMemo(
    () =>
      drawn(
        groups.data?.items ?? [],
        (runs.data?.series ?? [])
          .filter((one) => !hidden.has(one.run))
          .map((one) => ({
            run: one.run,
            group: groupOf.get(one.run) ?? 0,
            curve: curveOf(one),
          })),
        colourOf,
      ),
    // Sets and maps are made anew at each look; what they hold is in these.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [groups.data, runs.data, hiddenRuns],
  );
  return (
    <section
      className="card chart"
      aria-label={name}
      onFocus={({ target }) => setFocused(target.classList.contains("plot"))}
      onBlur={() => setFocused(false)}
    >
      <h3>
        {title} <AboutMetric explained={explained} />
      </h3>
      <p className="small faint metric-name">
        {title !== name && <span className="mono">{name}</span>} {unitOf(explained)}
      </p>
      <MeasuredApart metric={name} answer={answer} />
      {groups.error !== null && (
        <Failure error={groups.error} onRetry={() => void groups.refetch()} />
      )}
      {groups.data === undefined || runs.data === undefined ? (
        <Skeleton label={`Loading ${title}`} />
      ) : (
        <>
          <Plot
            data={shown.data}
            lines={shown.lines}
            bands={shown.bands}
            height={HEIGHT}
            isLog={false}
            axis="step"
            syncKey="compare"
            range={zoom}
            theme={theme}
            label={`${title} of ${plural(answer.groups.length, "group")} of runs by step`}
            onZoom={onZoom}
            onCursor={setPlace}
          />
          <Reading
            curves={groups.data.items}
            x={place === null ? null : shown.data[0][place]}
            isReadAloud={isFocused}
          />
        </>
      )}
    </section>
  );
}

/** How many seeds each group has where the cursor is, and what they say. */
function Reading(props: {
  curves: readonly GroupCurve[];
  x: number | null | undefined;
  isReadAloud: boolean;
}) {
  const { curves, x } = props;
  const said = x == null ? [] : readingAt(curves, x);
  return (
    <p className="small muted curve-reading" aria-live={props.isReadAloud ? "polite" : "off"}>
      {x == null || said.length === 0 ? legendOf(curves) : `Step ${number(x)}: ${said.join("; ")}.`}
    </p>
  );
}

export function GroupCurveCards(props: {
  answer: SeedGroups;
  runs: ReadonlyMap<string, Run>;
  refetchMs: number | false;
}) {
  const { answer, runs, refetchMs } = props;
  const { names, set } = useView();
  const setNames = (next: readonly string[]) => set({ metrics: next });
  const [zoom, setZoom] = useState<Zoom>(null);
  // Groups of several methods are called as the first one calls them.
  const explain = useExplain([...runs.values()][0]?.method ?? "");
  if (explain === undefined) return <Skeleton label="Loading the curves" />;
  const known = [...new Set([...runs.values()].flatMap((run) => Object.keys(run.summary)))].sort();
  const shown = names.length > 0 ? names : firstNames(known, answer.metric);
  return (
    <>
      <div className="row metrics-shown">
        {figuresOf(known).map(({ title, names: panels }) => (
          <button
            key={title}
            type="button"
            className="btn small"
            aria-pressed={panels.join() === shown.join()}
            onClick={() => setNames(panels)}
          >
            {title}
          </button>
        ))}
        {shown.map((name) => (
          <button
            key={name}
            type="button"
            className="tag"
            title={name}
            aria-label={`Remove the chart of ${explain(name).title}`}
            onClick={() => setNames(shown.filter((one) => one !== name))}
          >
            {explain(name).title} ×
          </button>
        ))}
        <select
          className="input"
          aria-label="Add a metric"
          value=""
          onChange={(event) => setNames([...shown, event.target.value])}
        >
          <option value="">Add a metric…</option>
          {known
            .filter((name) => !shown.includes(name))
            .map((name) => (
              <option key={name} value={name}>
                {explain(name).title === name ? name : `${explain(name).title} (${name})`}
              </option>
            ))}
        </select>
      </div>
      <div className="compare-grid">
        {shown.map((name) => (
          <MetricCard
            key={name}
            name={name}
            answer={answer}
            explain={explain}
            refetchMs={refetchMs}
            zoom={zoom}
            onZoom={setZoom}
          />
        ))}
      </div>
    </>
  );
}
