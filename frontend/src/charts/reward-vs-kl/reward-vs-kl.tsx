/**
 * Reward against KL: each point one step, joined in the order of time.
 *
 * Read it like Gao et al. 2022 (arXiv 2210.10760): a path that goes right without going up buys
 * nothing with its distance.
 */
import "./reward-vs-kl.css";

import { useMemo, useState, type KeyboardEvent, type MouseEvent } from "react";

import { between, number } from "@/lib/format";

import { savePixels, saveRows, saveVectors, type Pictured } from "./files";
import { dashOf, layoutOf, namedOf, PAD, radiusOf, TITLE, type Layout } from "./layout";
import { Legend } from "./legend";
import type { Column, Path, PathPoint } from "./path";
import { HEADS, rowsOf, valuesTextOf } from "./rows";
import { labelsOf, niceTicks } from "../ticks";
import { useWidth } from "@/lib/use-width";

const byStep = ({ x, values }: Column) => new Map(x.map((step, i) => [step, values[i] ?? null]));

/** Steps at which both are known, with the ends of the reward's interval where they are. */
export function paired(
  kl: Column | undefined,
  reward: Column | undefined,
  ends: readonly [Column | undefined, Column | undefined] = [undefined, undefined],
): PathPoint[] {
  if (kl === undefined || reward === undefined) return [];
  const at = byStep(reward);
  const [low, high] = ends.map((end) => (end === undefined ? undefined : byStep(end)));
  return kl.x.flatMap((step, i) => {
    const x = kl.values[i] ?? null;
    const y = at.get(step) ?? null;
    if (x === null || y === null) return [];
    const interval = { low: low?.get(step) ?? y, high: high?.get(step) ?? y };
    const n = kl.n?.[i] ?? 1;
    return [{ step, kl: x, reward: y, ...interval, ...(n > 1 && { n }) }];
  });
}

interface Near {
  readonly path: Path;
  readonly point: PathPoint;
}

/** Which point is pointed at, by what stays while paths grow: they are made anew each time. */
interface At {
  readonly path: string;
  readonly step: number;
}

const atOf = (near: Near | null): At | null =>
  near === null ? null : { path: near.path.id, step: near.point.step };

/** The point as it is now: a mean of several steps may have taken its place. */
export function nearOf(paths: readonly Path[], at: At | null): Near | null {
  const path = paths.find(({ id }) => id === at?.path);
  const point = path?.points.find(({ step }) => step >= (at?.step ?? 0));
  return path === undefined || point === undefined ? null : { path, point };
}

/** The last point of a path. */
function endOf(path: Path | null): Near | null {
  const point = path?.points.at(-1);
  return path === null || point === undefined ? null : { path, point };
}

function wordsOf({ path, point }: Near): string {
  const { step, kl, reward, low, high, n = 1 } = point;
  const interval = low < high ? ` ${between({ low, high })}` : "";
  const where = n > 1 ? `mean of ${number(n)} steps up to ${number(step)}` : `step ${number(step)}`;
  return `${path.label}, ${where}: ${number(reward)}${interval} at ${number(kl)} nats`;
}

/** The point that an arrow key leads to: along a path, or to the same place of the next path. */
export function pointBeside(
  paths: readonly Path[],
  near: Near | null,
  [along, across]: readonly [number, number],
): Near | null {
  const known = paths.filter((path) => path.points.length > 0);
  const here = known.findIndex((path) => path === near?.path);
  const path = known[(Math.max(0, here) + (here < 0 ? 0 : across) + known.length) % known.length];
  if (path === undefined) return null;
  const before = near === null ? -along : near.path.points.indexOf(near.point);
  const place = Math.min(path.points.length - 1, Math.max(0, before + along));
  const point = path.points[place];
  return point === undefined ? null : { path, point };
}

const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

function PathMarks({ path, near, layout }: { path: Path; near: Near | null; layout: Layout }) {
  const { points, isEvaluated, isFaint = false, colour } = path;
  const size = radiusOf(path);
  const { X, Y } = layout;
  const line = points.map((p, i) => `${i === 0 ? "M" : "L"}${X(p)} ${Y(p.reward)}`).join("");
  const isNear = (p: PathPoint) => near?.point === p;
  return (
    <g
      className={[
        isEvaluated ? "evaluated" : "steps",
        ...(isFaint ? ["faint"] : []),
        ...(near?.path === path ? ["near"] : []),
      ].join(" ")}
      style={{ color: `var(${colour})` }}
    >
      <path d={line} />
      {points.map((p, i) => (
        <g key={p.step}>
          {p.low < p.high && <line x1={X(p)} x2={X(p)} y1={Y(p.low)} y2={Y(p.high)} />}
          <circle
            cx={X(p)}
            cy={Y(p.reward)}
            r={size + (isNear(p) ? 2 : 0)}
            opacity={isEvaluated ? 1 : 0.25 + (0.75 * (i + 1)) / points.length}
          />
        </g>
      ))}
    </g>
  );
}

/** What each path is called, with its colour: a label may have made room for another. */
function PathLabels({ labels }: Pick<Layout, "labels">) {
  return labels.map(({ path, text, x, y, anchor }) => (
    <text key={path.id} className="path-label" x={x} y={y} textAnchor={anchor}>
      {text.endsWith(path.label) ? null : <title>{path.label}</title>}
      <tspan style={{ fill: `var(${path.colour})` }}>{dashOf(path)}</tspan>
      {text.slice(dashOf(path).length)}
    </text>
  ));
}

interface RewardVsKlProps {
  paths: readonly Path[];
  isRoot: boolean;
  height: number;
  /** What the reward is called. */
  reward: string;
  /** What to say while nothing is pointed at. */
  caption: string;
  /** A point was clicked, or Enter pressed on it. */
  onPick?: (path: Path, point: PathPoint) => void;
  /** The numbers instead of the picture. */
  isTable: boolean;
  onDrawn: (drawn: SVGSVGElement | null) => void;
}

/**
 * What its menu does, and what it is drawn with. `exactPaths` are as they are stored, to the last
 * digit: those that are drawn are rounded.
 */
export function useActions(shown: Pictured, exactPaths: () => Promise<readonly Path[]>) {
  const [isTable, setTable] = useState(false);
  const [drawn, onDrawn] = useState<SVGSVGElement | null>(null);
  const { of, apart } = shown;
  const menu = {
    isTable,
    onTable: () => setTable(!isTable),
    savePixels: drawn === null ? undefined : () => savePixels(drawn, shown),
    saveVectors: drawn === null ? undefined : () => saveVectors(drawn, shown),
    saveValues: async () => saveRows({ of, apart, paths: await exactPaths() }),
    valuesText: valuesTextOf(shown.paths),
  };
  return { menu, drawnWith: { isTable, onDrawn } };
}

/** The picture, or its numbers as a table. */
export function RewardVsKl(props: RewardVsKlProps) {
  return props.isTable ? <Numbers {...props} /> : <Picture {...props} />;
}

function Numbers({ paths, height }: RewardVsKlProps) {
  return (
    <div className="curve-table" style={{ height }} tabIndex={0}>
      <table>
        <caption>
          Reward vs KL; low and high are the ends of the 95 % interval. A row of several steps has
          the means of reward and KL over these steps, up to the step that it names.
        </caption>
        <thead>
          <tr>
            {HEADS.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rowsOf(paths).map(([label, ...values], place) => (
            <tr key={place}>
              <th scope="row">{label}</th>
              {values.map((value, column) => (
                <td key={column}>{typeof value === "number" ? number(value) : value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Picture(props: RewardVsKlProps) {
  const { paths, isRoot, height, reward, onDrawn } = props;
  const all = paths.flatMap((path) => path.points.map((point) => ({ path, point })));
  const [ref, width] = useWidth();
  const [at, setAt] = useState<At | null>(null);
  const setNear = (next: Near | null) => setAt(atOf(next));
  const near = nearOf(paths, at);
  const layout = useMemo(
    () => layoutOf({ paths, width, height, isRoot, reward }),
    [paths, width, height, isRoot, reward],
  );
  const { X, Y, right, low, high } = layout;

  const pick = () => {
    if (near !== null) props.onPick?.(near.path, near.point);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const way = ARROWS[event.key];
    if (way !== undefined) {
      event.preventDefault();
      setNear(pointBeside(paths, near, way));
    } else if (event.key === "Enter") pick();
    else if (event.key === "Escape") setNear(null);
  };
  const look = (event: MouseEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const away = ({ point }: Near) => Math.hypot(X(point) - x, Y(point.reward) - y);
    setNear(
      all.reduce<Near | null>(
        (best, one) => (best === null || away(one) < away(best) ? one : best),
        null,
      ),
    );
  };
  const told = namedOf(paths).flatMap((path) => {
    const end = endOf(path);
    return end === null ? [] : [wordsOf(end)];
  });
  const [xTicks, yTicks] = [niceTicks(0, right), niceTicks(low, high)];
  const [xLabels, yLabels] = [labelsOf(xTicks), labelsOf(yTicks)];
  return (
    <div ref={ref} className="reward-vs-kl">
      <Legend
        paths={paths}
        width={width}
        near={near?.path.id}
        onNear={(path) => setNear(endOf(path))}
      />
      <svg
        ref={onDrawn}
        width={width}
        height={height}
        role="img"
        aria-label={`Reward vs KL; at the end ${told.join("; ")}`}
        tabIndex={0}
        className={props.onPick === undefined ? "" : "pickable"}
        onMouseMove={look}
        onMouseLeave={() => setNear(null)}
        onClick={pick}
        onKeyDown={onKeyDown}
        onBlur={() => setNear(null)}
      >
        {yTicks.map((tick, place) => (
          <g key={tick}>
            <line className="grid" x1={PAD.left} x2={width - PAD.right} y1={Y(tick)} y2={Y(tick)} />
            <text x={PAD.left - 8} y={Y(tick) + 4} textAnchor="end">
              {yLabels[place]}
            </text>
          </g>
        ))}
        {xTicks.map((tick, place) => {
          const x = PAD.left + ((width - PAD.left - PAD.right) * tick) / right;
          return (
            <text key={tick} x={x} y={height - PAD.bottom + 18} textAnchor="middle">
              {xLabels[place]}
            </text>
          );
        })}
        <text {...TITLE}>{layout.title}</text>
        <text x={width - PAD.right} y={height - 4} textAnchor="end">
          {isRoot ? "√KL to the reference" : "KL to the reference, nats per response"}
        </text>
        {paths.map((path) => (
          <PathMarks key={path.id} path={path} near={near} layout={layout} />
        ))}
        <PathLabels labels={layout.labels} />
      </svg>
      <p className={near === null ? "small muted" : "small muted mono"} aria-live="polite">
        {near === null ? props.caption : wordsOf(near)}
      </p>
    </div>
  );
}
