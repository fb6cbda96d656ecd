/** One metric of one run as a chart with its newest value; drawn only while it can be seen. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState, type FocusEvent } from "react";

import type { Run } from "@/api/types";
import { placeText } from "@/charts/axes";
import type { Floor } from "@/charts/floor";
import type { Zoom } from "@/charts/live-curves";
import { folded, lined, type Frame, type Marker } from "@/charts/markers/folding";
import { MARKER_COLOURS } from "@/charts/markers/glyph";
import { MarkerLane } from "@/charts/markers/marker-lane";
import { Plot } from "@/charts/plot";
import { ChartMenu } from "@/components/chart/chart-menu";
import { plotted, type Drawn } from "@/components/chart/columns";
import { floorOf } from "@/components/chart/floor-of";
import { savePixels, saveVectors } from "@/components/chart/save-picture";
import { endsOf } from "@/components/chart/window";
import { ZoomItems } from "@/components/chart/zoom-items";
import { Failure } from "@/components/states";
import type { View } from "@/features/run/view";
import { kindAt, type SampleKind } from "@/lib/address/samples";
import { useTheme } from "@/lib/theme";

import type { MetricSaid } from "../../verdict/metric-said";
import { Grip } from "../arrange/grip";
import { PlaceItems, type Arranged } from "../arrange/place-items";
import { besidesPoints } from "../markers/markers";
import { CurveHead } from "./curve-head";
import { CurveTable } from "./curve-table";
import { nameOf, pictureOf, saveValues, valuesTextOf } from "./save-chart";

export interface CurveCardProps {
  readonly run: Run;
  readonly drawn: Drawn;
  /** Grows with every change of the curves, which are changed in place. */
  readonly tick: number;
  readonly view: View;
  /** Least and greatest x of all charts of the page. */
  readonly range: Zoom;
  /** What happened to the run, ascending in x. */
  readonly markers: readonly Marker[];
  readonly colour?: string;
  readonly height?: number;
  readonly onZoom: (zoom: Zoom) => void;
  readonly onPick?: (x: number, kind: SampleKind) => void;
  /** What the verdict says of a metric. */
  readonly saidOf: (name: string) => MetricSaid | null;
  readonly arranged?: Arranged | undefined;
}

const AHEAD = "240px";

function useIsSeen() {
  const ref = useRef<HTMLElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const watcher = new IntersectionObserver(
      (seen) => setSeen(seen.at(-1)?.isIntersecting ?? false),
      {
        rootMargin: AHEAD,
      },
    );
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  return [ref, isSeen] as const;
}

/** The frame of a plot, which tells it at every draw; kept until it is another. */
function useFrame() {
  const [frame, setFrame] = useState<Frame | null>(null);
  const keep = useCallback(
    (next: Frame) =>
      setFrame((now) =>
        now !== null && FRAME.every((one) => now[one] === next[one]) ? now : next,
      ),
    [],
  );
  return [frame, keep] as const;
}

const FRAME = ["left", "width", "min", "max"] as const;

/** The places of markers in the frame, and which of them is pointed at. */
function useClusters(markers: readonly Marker[]) {
  const [frame, setFrame] = useFrame();
  const clusters = useMemo(() => (frame === null ? [] : folded(markers, frame)), [markers, frame]);
  const [pointedFrom, setPointedFrom] = useState<number | null>(null);
  // A place that another one has taken in is gone without a word.
  const pointedAt = clusters.find(({ from }) => from === pointedFrom) ?? null;
  if (pointedFrom !== null && pointedAt === null) setPointedFrom(null);
  return { frame, setFrame, clusters, pointedAt, setPointedFrom };
}

/** An evaluation that is a point of the chart already needs no marker. */
function useMarkersAbove({ markers, drawn, tick, view }: CurveCardProps): readonly Marker[] {
  const { curve, explained } = drawn;
  const { isEvaluation } = explained;
  return useMemo(
    () => (isEvaluation ? besidesPoints(markers, curve, view.isLog) : markers),
    // The curve is changed in place; `tick` says when.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [markers, curve, tick, isEvaluation, view.isLog],
  );
}

/** What the axis shows at least, while anything is drawn that it bears on. */
function useFloor({ run, drawn, tick, view }: CurveCardProps, isDrawn: boolean): Floor | null {
  const { curve, low, high, noise, explained } = drawn;
  const { config } = run;
  return useMemo(
    () => (isDrawn && !view.isLog ? floorOf(drawn, view.zoom, config) : null),
    // As of the columns: changed in place, in an object that is another each time.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [
      curve,
      low,
      high,
      noise?.low,
      noise?.high,
      explained,
      tick,
      view.zoom,
      view.isLog,
      isDrawn,
      config,
    ],
  );
}

/** A part with some room at both sides. */
function around(from: number, to: number): Zoom {
  const room = (to - from) / 4;
  return [from - room, to + room];
}

export function CurveCard(props: CurveCardProps) {
  const { drawn, tick, view } = props;
  const { curve, explained } = drawn;
  const { title } = explained;
  const theme = useTheme();
  const client = useQueryClient();
  const [ownTable, setOwnTable] = useState<boolean | null>(null);
  const isTable = ownTable ?? view.isTable;
  const [problem, setProblem] = useState<unknown>(null);
  const [ref, isSeen] = useIsSeen();
  const [place, setPlace] = useState<number | null>(null);
  const [isFocused, setFocused] = useState(false);
  const colour = props.colour ?? "--s1";
  const isDrawn = isSeen && !isTable;
  const plot = useMemo(
    () => (isDrawn ? plotted(drawn, view, colour) : null),
    // The curve is changed in place; `tick` says when.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [curve, drawn.low, drawn.high, explained, tick, view.smoothing, view.isLog, colour, isDrawn],
  );
  const floor = useFloor(props, isDrawn);
  const height = props.height ?? 190;
  const { arranged, onPick } = props;
  const chart = { run: props.run, drawn, view, range: props.range, colour };
  const { frame, setFrame, clusters, pointedAt, setPointedFrom } = useClusters(
    useMarkersAbove(props),
  );
  const places = useMemo(
    () => lined(clusters, pointedAt).map(({ x, kind }) => ({ x, colour: MARKER_COLOURS[kind] })),
    [clusters, pointedAt],
  );
  const onFocus = ({ target }: FocusEvent<HTMLElement>) =>
    setFocused(target.classList.contains("plot"));
  return (
    <section
      className="card chart"
      ref={ref}
      aria-label={explained.name}
      onFocus={onFocus}
      onBlur={() => setFocused(false)}
    >
      <CurveHead
        drawn={drawn}
        view={view}
        place={place}
        said={props.saidOf(explained.name)}
        isReadAloud={isFocused}
        grip={
          arranged?.isPinned === true && (
            <Grip name={explained.name} title={title} onMove={arranged.onMove} />
          )
        }
        menu={
          <ChartMenu
            title={title}
            isTable={isTable}
            onTable={() => setOwnTable(!isTable)}
            savePixels={() => savePixels(pictureOf(chart), nameOf(chart))}
            saveVectors={() => saveVectors(pictureOf(chart), nameOf(chart))}
            saveValues={() => saveValues(client, chart)}
            valuesText={valuesTextOf(chart)}
            onProblem={setProblem}
          >
            {(id) => (
              <>
                {arranged !== undefined && <PlaceItems id={id} {...arranged} />}
                <ZoomItems
                  id={id}
                  zoom={view.zoom}
                  whole={props.range ?? endsOf(curve.x)}
                  onZoom={props.onZoom}
                />
              </>
            )}
          </ChartMenu>
        }
      />
      {problem !== null && <Failure error={problem} onDismiss={() => setProblem(null)} />}
      {!isTable && props.markers.length > 0 && (
        <MarkerLane
          clusters={clusters}
          frame={frame}
          pointedAt={pointedAt}
          onPoint={setPointedFrom}
          placeText={(x) => placeText(view.axis, x)}
          onZoom={(from, to) => props.onZoom(around(from, to))}
        />
      )}
      {isTable ? (
        <CurveTable drawn={drawn} view={view} height={height} />
      ) : (
        <div style={{ height }}>
          {plot !== null && (
            <Plot
              {...plot}
              height={height}
              isLog={view.isLog}
              floor={floor}
              axis={view.axis}
              syncKey={`run-${view.axis}`}
              range={view.zoom ?? props.range}
              theme={theme}
              onZoom={props.onZoom}
              onPick={onPick && ((x) => onPick(x, kindAt(explained.isEvaluation)))}
              onCursor={setPlace}
              places={places}
              onFrame={setFrame}
            />
          )}
        </div>
      )}
    </section>
  );
}
