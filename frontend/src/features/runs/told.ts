/** What a run has told since its list was loaded; pure. */
import type { LiveEvent } from "@/api/stream/messages";
import { progressOf } from "@/api/stream/progress";
import type { Run } from "@/api/types";
import type { Headline } from "@/components/metrics/headline";

/** Of one metric; older ones are in the curve once it is loaded again. */
const MOST_VALUES = 200;

export interface ToldValue {
  readonly step: number;
  readonly value: number | null;
}

export interface Told {
  readonly progress: Partial<Run["progress"]>;
  readonly summary: Readonly<Record<string, number | null>>;
  /** By metric, with ascending steps. */
  readonly values: Readonly<Record<string, readonly ToldValue[]>>;
}

export const NOTHING_TOLD: Told = { progress: {}, summary: {}, values: {} };

interface Point {
  readonly step: number;
  readonly values: Readonly<Record<string, number | null>>;
}

export function afterEvent(told: Told, { type, data }: Pick<LiveEvent, "type" | "data">): Told {
  switch (type) {
    case "progress":
      return { ...told, progress: progressOf(data) };
    case "metric":
      return withPoints(told, (data["points"] ?? []) as readonly Point[]);
    case "rewind":
    case "reset":
      return NOTHING_TOLD;
    default:
      return told;
  }
}

function withPoints(told: Told, points: readonly Point[]): Told {
  const summary = { ...told.summary };
  const values: Record<string, readonly ToldValue[]> = { ...told.values };
  for (const { step, values: measured } of points)
    for (const [name, value] of Object.entries(measured)) {
      summary[name] = value;
      const before = values[name] ?? [];
      // What is told again is there already.
      if (step > (before.at(-1)?.step ?? -Infinity))
        values[name] = [...before, { step, value }].slice(-MOST_VALUES);
    }
  return { ...told, summary, values };
}

/**
 * What is left once the run was asked for anew: the answer knows all that was told before, but for
 * the curves. `since`: what was told from then on.
 */
export const afterAnswer = (told: Told, since: readonly LiveEvent[]): Told =>
  since.reduce(afterEvent, { ...NOTHING_TOLD, values: told.values });

/** A trend with what was told beyond its end. */
export function grown(trend: Headline, told: Told["values"]): Headline {
  const end = trend.end ?? -Infinity;
  const more = (told[trend.name] ?? []).flatMap(({ step, value }) =>
    step > end && value !== null ? [value] : [],
  );
  return more.length === 0 ? trend : { ...trend, values: [...trend.values, ...more] };
}
