/** A chart per metric that is chosen: each group's mean with its band, and its runs as thin lines. */
import type { Run, SeedGroups } from "@/api/types";
import { keepFocus } from "@/components/focus/kept-focus";
import { endsOf, isEnd } from "@/components/metrics/explained";
import { useExplain } from "@/components/metrics/use-explain";
import { FEWEST_FOR_MEAN } from "@/components/seed-groups/estimate";
import { Skeleton } from "@/components/states";
import { figuresOf, firstNames, useView } from "@/features/compare/view";

import { CurveCard } from "./curve-card";
import { CurveTools } from "./curve-tools";

const has = (run: Run | undefined, name: string): boolean => run?.summary[name] !== undefined;

export function CurveCards(props: {
  answer: SeedGroups;
  runs: ReadonlyMap<string, Run>;
  refetchMs: number | false;
}) {
  const { answer, runs, refetchMs } = props;
  const { names, set } = useView();
  const setNames = (next: readonly string[]) => set({ metrics: next });
  // Groups of several methods are called as the first one calls them.
  const explain = useExplain([...runs.values()][0]?.method ?? "");
  if (explain === undefined) return <Skeleton label="Loading the curves" />;
  const all = new Set([...runs.values()].flatMap((run) => Object.keys(run.summary)));
  // The ends of an interval are drawn with their metric.
  const known = [...all].filter((name) => !isEnd(name, all, explain)).sort();
  /** Whether some runs stand for themselves: of a group in which fewer than three have a value. */
  const hasSmall = (name: string) =>
    answer.groups.some(
      (group) => group.runs.filter((run) => has(runs.get(run), name)).length < FEWEST_FOR_MEAN,
    );
  /** The names of the ends of its intervals, and of those that tell how noisy it is. */
  const endsWanted = (name: string): readonly string[] => {
    if (!hasSmall(name)) return [];
    const noisy = explain(name).metric?.noise_of ?? null;
    const withEnds = noisy === null ? [name] : [name, noisy];
    return withEnds.flatMap((one) => endsOf(one, all, explain) ?? []);
  };
  const shown = names.length > 0 ? names : firstNames(known, answer.metric);
  return (
    <>
      <div className="row metrics-shown" ref={keepFocus}>
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
            data-row
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
      <CurveTools />
      <div className="compare-grid">
        {shown.map((name) => (
          <CurveCard
            key={name}
            explained={explain(name)}
            ends={endsWanted(name)}
            answer={answer}
            runs={runs}
            refetchMs={refetchMs}
          />
        ))}
      </div>
    </>
  );
}
