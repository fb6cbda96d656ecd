/** What a run has told since its list was loaded; pure. */
import type { LiveEvent } from "@/api/stream/messages";
import { progressOf } from "@/api/stream/progress";
import type { Run } from "@/api/types";

/** Of one metric; older ones are in the curve once it is loaded again. */
const MOST_VALUES = 200;

export interface Told {
  readonly progress: Partial<Run["progress"]>;
  readonly summary: Readonly<Record<string, number | null>>;
  readonly values: Readonly<Record<string, readonly (number | null)[]>>;
}

export const NOTHING_TOLD: Told = { progress: {}, summary: {}, values: {} };

interface Point {
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
  const values: Record<string, readonly (number | null)[]> = { ...told.values };
  for (const point of points)
    for (const [name, value] of Object.entries(point.values)) {
      summary[name] = value;
      values[name] = [...(values[name] ?? []), value].slice(-MOST_VALUES);
    }
  return { ...told, summary, values };
}
