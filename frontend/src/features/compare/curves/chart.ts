/** What a chart of compared curves shows: the groups, their runs, and which part of which axis. */
import type { GroupCurve } from "@/api/seed-groups";
import type { Run, SeedGroups } from "@/api/types";
import type { Axis, Zoom } from "@/charts/live-curves";
import type { Explained } from "@/components/metrics/explained";

import type { Look, RunCurve } from "./columns";

export interface Chart {
  readonly explained: Explained;
  readonly answer: SeedGroups;
  readonly runs: ReadonlyMap<string, Run>;
  readonly axis: Axis;
  readonly zoom: Zoom;
  readonly look: Look;
  readonly groups: readonly GroupCurve[];
  /** The runs that are not hidden. */
  readonly shown: readonly RunCurve[];
}
