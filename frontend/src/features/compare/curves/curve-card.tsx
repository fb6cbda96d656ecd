/** One metric of everything that is compared: as a chart or as a table, with what can be saved. */
import { useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";

import type { GroupCurve } from "@/api/seed-groups";
import type { Run, SeedGroups } from "@/api/types";
import { placeText } from "@/charts/axes";
import type { Floor } from "@/charts/floor";
import type { Axis } from "@/charts/live-curves";
import { Plot } from "@/charts/plot";
import { ChartMenu } from "@/components/chart/chart-menu";
import type { Drawn } from "@/components/chart/columns";
import { HiddenPill, NanPill } from "@/components/chart/nan-pill";
import { savePixels, saveVectors } from "@/components/chart/save-picture";
import { endsOf } from "@/components/chart/window";
import { ZoomItems } from "@/components/chart/zoom-items";
import { AboutMetric } from "@/components/metrics/about-metric";
import { unitOf, type Explained } from "@/components/metrics/explained";
import { colourOf } from "@/components/seed-groups/group-names";
import { Failure, Skeleton } from "@/components/states";
import { MeasuredApart } from "@/features/compare/measured-apart";
import { useView } from "@/features/compare/view";
import { plural } from "@/lib/format";
import { useTheme } from "@/lib/theme";

import { drawn, type Look, type RunCurve, type Together } from "./columns";
import { CurveTable } from "./curve-table";
import { floorOfAll } from "./floor";
import { legendOf, nNanIn, nNotPositiveIn, readingAt } from "./reading";
import { nameOf, pictureOf, saveValues } from "./save-curves";
import { useCurves } from "./use-curves";

const HEIGHT = 240;

interface CurveCardProps {
  readonly explained: Explained;
  /** Of the intervals that are drawn, where some runs stand for themselves, and of its noise. */
  readonly ends: readonly string[];
  readonly answer: SeedGroups;
  readonly runs: ReadonlyMap<string, Run>;
  readonly refetchMs: number | false;
}

const noRuns: readonly RunCurve[] = [];
const noGroups: readonly GroupCurve[] = [];

export function CurveCard({ explained, ends, answer, runs, refetchMs }: CurveCardProps) {
  const { title, name } = explained;
  const { hidden, axis, zoom, zoomTo, smoothing: wanted, isLog, isTable: areTables } = useView();
  // Each evaluation is a measurement, as on the page of a run.
  const smoothing = explained.isEvaluation ? 0 : wanted;
  const look = useMemo(() => ({ smoothing, isLog }), [smoothing, isLog]);
  const client = useQueryClient();
  const { curves, error, isAskedAgain, retry } = useCurves(explained, ends, refetchMs);
  const [ownTable, setOwnTable] = useState<boolean | null>(null);
  const isTable = ownTable ?? areTables;
  const [problem, setProblem] = useState<unknown>(null);
  const hiddenRuns = [...hidden].join();
  const seen = useMemo(
    () =>
      curves === null ? noRuns : shownRuns(answer, curves.runs, new Set(hiddenRuns.split(","))),
    [curves, answer, hiddenRuns],
  );
  const groups = curves?.groups ?? noGroups;
  const shown = useMemo(
    () => drawn(groups, seen, colourOf, axis, look),
    [groups, seen, axis, look],
  );
  const chart = useMemo(
    () => ({ explained, answer, runs, axis, zoom, look, groups, shown: seen }),
    [explained, answer, runs, axis, zoom, look, groups, seen],
  );
  const floor = useMemo(() => floorOfAll(chart), [chart]);
  return (
    <section className="card chart" aria-label={name}>
      <div className="row">
        <h3 className="clip" title={title}>
          {title}
        </h3>
        <AboutMetric explained={explained} />
        <span className="grow" />
        <NanPill n={nNanIn(groups, seen)} />
        <HiddenPill n={isLog ? nNotPositiveIn(groups, seen) : 0} />
        {curves !== null && (
          <ChartMenu
            title={title}
            isTable={isTable}
            onTable={() => setOwnTable(!isTable)}
            savePixels={() => savePixels(pictureOf(chart), nameOf(chart))}
            saveVectors={() => saveVectors(pictureOf(chart), nameOf(chart))}
            saveValues={() => saveValues(client, chart)}
            valuesText={zoom === null ? "groups and runs" : "the part that is shown"}
            onProblem={setProblem}
          >
            {(id) => (
              <ZoomItems id={id} zoom={zoom} whole={endsOf(shown.data[0])} onZoom={zoomTo} />
            )}
          </ChartMenu>
        )}
      </div>
      <p className="small faint metric-name">
        {title !== name && <span className="mono">{name}</span>} {unitOf(explained)}
      </p>
      <MeasuredApart metric={name} answer={answer} />
      {problem !== null && <Failure error={problem} onDismiss={() => setProblem(null)} />}
      {error !== null && <Failure error={error} isAsking={isAskedAgain} onRetry={retry} />}
      {curves === null ? (
        error === null && <Skeleton label={`Loading ${title}`} />
      ) : isTable ? (
        <CurveTable {...chart} height={HEIGHT} />
      ) : (
        <Chart
          groups={groups}
          runs={seen}
          nameOf={(run) => runs.get(run)?.name ?? run}
          shown={shown}
          floor={floor}
          look={look}
          label={labelOf(title, axis, answer)}
        />
      )}
    </section>
  );
}

const AXIS_WORDS: Readonly<Record<Axis, string>> = {
  step: "step",
  tokens: "tokens",
  relative: "relative time",
  time: "time",
};

const labelOf = (title: string, axis: Axis, { groups }: SeedGroups): string =>
  `${title} of ${plural(groups.length, "group")} of runs by ${AXIS_WORDS[axis]}`;

/** The curves of all runs that are not hidden, each with its group. */
function shownRuns(
  { groups }: SeedGroups,
  curves: ReadonlyMap<string, Drawn>,
  hidden: ReadonlySet<string>,
): readonly RunCurve[] {
  return groups.flatMap((group, place) =>
    group.runs.flatMap((run) => {
      const found = curves.get(run);
      return found === undefined || hidden.has(run) ? [] : [{ ...found, run, group: place }];
    }),
  );
}

interface Read {
  readonly groups: readonly GroupCurve[];
  readonly runs: readonly RunCurve[];
  readonly nameOf: (run: string) => string;
}

function Chart({
  shown,
  floor,
  look,
  label,
  ...read
}: Read & { shown: Together; floor: Floor | null; look: Look; label: string }) {
  const { axis, zoom, zoomTo } = useView();
  const theme = useTheme();
  const [place, setPlace] = useState<number | null>(null);
  const [isFocused, setFocused] = useState(false);
  const x = place === null ? undefined : shown.data[0][place];
  return (
    <div
      onFocus={({ target }) => setFocused(target.classList.contains("plot"))}
      onBlur={() => setFocused(false)}
    >
      <Plot
        data={shown.data}
        lines={shown.lines}
        bands={shown.bands}
        whiskers={shown.whiskers}
        marks={shown.marks}
        height={HEIGHT}
        isLog={look.isLog}
        floor={floor}
        axis={axis}
        syncKey={`compare-${axis}`}
        range={zoom}
        theme={theme}
        label={label}
        onZoom={zoomTo}
        onCursor={setPlace}
      />
      <Reading
        {...read}
        axis={axis}
        isSmoothed={look.smoothing > 0}
        x={x}
        isReadAloud={isFocused}
      />
    </div>
  );
}

/** What each group says where the cursor is. */
function Reading(
  props: Read & {
    axis: Axis;
    isSmoothed: boolean;
    x: number | undefined;
    isReadAloud: boolean;
  },
) {
  const { groups, runs, nameOf, axis, x } = props;
  const said = x === undefined ? [] : readingAt(groups, runs, nameOf, axis, x);
  const where = x === undefined ? "" : placeText(axis, x);
  return (
    <p className="small muted curve-reading" aria-live={props.isReadAloud ? "polite" : "off"}>
      {said.length === 0
        ? legendOf(groups, runs, axis, props.isSmoothed)
        : `${where.charAt(0).toUpperCase()}${where.slice(1)}: ${said.join("; ")}.`}
    </p>
  );
}
