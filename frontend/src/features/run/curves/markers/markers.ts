/** What happened to a run as markers on its curves: events and evaluations; pure. */
import type { RunEvent } from "@/api/types";
import type { Axis, Curve } from "@/charts/live-curves";
import { byPlace, type Marker, type MarkerKind } from "@/charts/markers/folding";
import { areSparse } from "@/components/chart/columns";
import { isEnd, type Explain } from "@/components/metrics/explained";
import { number } from "@/lib/format";

import { eventText } from "../../history/event-text";

type Curves = ReadonlyMap<string, Curve>;

/** Says where a step lies on the axis; null if that is not known yet. */
export type Ruler = (step: number) => number | null;

export interface Placing {
  readonly axis: Axis;
  /** Where relative time begins, seconds since the epoch; null = no metric yet. */
  readonly origin: number | null;
  /** For the axis of tokens. */
  readonly ruler: Ruler;
}

export function markersOf(
  events: readonly RunEvent[],
  curves: Curves,
  explain: Explain,
  placing: Placing,
): Marker[] {
  return byPlace([...ofEvents(events, placing), ...ofEvaluations(curves, explain)]);
}

function kindOf({ type, data }: RunEvent): MarkerKind | null {
  if (type === "alert") return data["level"] === "info" ? "note" : "alert";
  if (type === "start") return Number(data["attempt"]) > 1 || stepOf(data) > 0 ? "resume" : null;
  // A pin changes a checkpoint that has its marker already.
  if (type === "checkpoint") return "is_pinned" in data ? null : "checkpoint";
  return null;
}

const stepOf = (data: RunEvent["data"]): number =>
  typeof data["step"] === "number" ? data["step"] : NaN;

function ofEvents(events: readonly RunEvent[], placing: Placing): Marker[] {
  return standing(events).flatMap((event) => {
    const kind = kindOf(event);
    const x = kind === null ? null : placed(event, placing);
    return kind === null || x === null ? [] : [{ kind, x, text: eventText(event).text }];
  });
}

/** Without checkpoints and alerts of steps that a later attempt made void. */
function standing(events: readonly RunEvent[]): RunEvent[] {
  let kept: RunEvent[] = [];
  for (const event of events.toSorted((a, b) => a.seq - b.seq)) {
    const step = stepOf(event.data);
    if (event.type === "rewind")
      kept = kept.filter((one) => one.type === "start" || !(stepOf(one.data) > step));
    else kept.push(event);
  }
  return kept;
}

/** By step, or by when the service was told; an event that knows no step has no place. */
function placed(event: RunEvent, { axis, origin, ruler }: Placing): number | null {
  const step = stepOf(event.data);
  if (Number.isNaN(step)) return null;
  if (axis === "step") return step;
  if (axis === "tokens") return ruler(step);
  const at = new Date(event.created_at).getTime() / 1000;
  if (axis === "time") return at;
  return origin === null ? null : Math.max(0, at - origin);
}

/** Values that are named of one evaluation. */
const MOST_NAMED = 3;

function ofEvaluations(curves: Curves, explain: Explain): Marker[] {
  const found = new Map<number, string[]>();
  const evaluations = [...curves]
    .map(([name, curve]) => ({ explained: explain(name), curve }))
    .filter(({ explained }) => explained.isEvaluation && !isEnd(explained.name, curves, explain))
    .sort((a, b) => a.explained.order - b.explained.order);
  for (const { explained, curve } of evaluations) {
    for (const [place, x] of curve.x.entries()) {
      const value = (curve.n[place] ?? 1) > 1 ? "several, zoom in" : number(curve.last[place]);
      found.set(x, [...(found.get(x) ?? []), `${explained.title} ${value}`]);
    }
  }
  return [...found].map(([x, values]) => {
    const more = values.length > MOST_NAMED ? `, and ${values.length - MOST_NAMED} more` : "";
    const text = `Evaluated: ${values.slice(0, MOST_NAMED).join(", ")}${more}.`;
    return { kind: "evaluation", x, text };
  });
}

/** Without the evaluations that a chart of evaluations draws as points. */
export function besidesPoints(
  markers: readonly Marker[],
  curve: Curve,
  isLog: boolean,
): readonly Marker[] {
  if (!areSparse(curve.x)) return markers;
  const isDrawn = (value: number | null | undefined) => value != null && (!isLog || value > 0);
  const points = new Set(curve.x.filter((_, place) => isDrawn(curve.last[place])));
  return markers.filter(({ kind, x }) => kind !== "evaluation" || !points.has(x));
}

/** Between two known steps in proportion; before the first as the first, beyond the last unknown. */
export function rulerOf(steps: readonly number[], xs: readonly number[]): Ruler {
  return (step) => {
    const after = steps.findIndex((one) => one >= step);
    const [high, x] = [steps[after], xs[after]];
    if (high === undefined || x === undefined) return null;
    const [low, from] = [steps[after - 1], xs[after - 1]];
    if (low === undefined || from === undefined || high === step) return x;
    return from + ((x - from) * (step - low)) / (high - low);
  };
}
