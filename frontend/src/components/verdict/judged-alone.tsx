/** What stands beside the verdicts of a list: the change of each, and how often chance gives one. */
import type { RunVerdict } from "@/api/types";

/** By how much what decides changed, with its interval; nothing where the verdict has none. */
export function VerdictChange({ verdict }: { verdict: Pick<RunVerdict, "change"> }) {
  return verdict.change === "" ? null : <span className="small mono nowrap">{verdict.change}</span>;
}

/** Among so many changes one that is clear by chance is no surprise. */
const FEWEST = 3;

/** For a list of runs side by side, of which some may seem clear by chance. */
export function JudgedAlone({ verdicts }: { verdicts: Iterable<Pick<RunVerdict, "change">> }) {
  if ([...verdicts].filter(({ change }) => change !== "").length < FEWEST) return null;
  return (
    <p className="small muted remark">
      Each run is judged alone; of runs that do not change, about one in twenty shows a clear rise
      or fall by chance.
    </p>
  );
}
