/** A choice of the metric that decides, among those that at least two groups have. */
import type { Run, SeedGroups } from "@/api/types";
import { isEnd } from "@/components/metrics/explained";
import { useExplain } from "@/components/metrics/use-explain";

import { useView } from "./view";

/** The metrics that runs of at least two groups have, by name. */
export function sharedNames(
  { groups }: Pick<SeedGroups, "groups">,
  runs: ReadonlyMap<string, Pick<Run, "summary">>,
): readonly string[] {
  const counts = new Map<string, number>();
  for (const group of groups) {
    const names = group.runs.flatMap((id) => Object.keys(runs.get(id)?.summary ?? {}));
    for (const name of new Set(names)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].flatMap(([name, n]) => (n > 1 ? [name] : [])).sort();
}

export function ByMetric(props: { answer: SeedGroups; runs: ReadonlyMap<string, Run> }) {
  const { metric, set } = useView();
  const explain = useExplain([...props.runs.values()][0]?.method ?? "");
  if (explain === undefined) return null;
  const shared = sharedNames(props.answer, props.runs);
  const all = new Set(shared);
  const names = shared.filter((name) => !isEnd(name, all, explain));
  if (names.length === 0 && metric === null) return null;
  // One of the address that is not shared decides all the same.
  const listed = metric === null || names.includes(metric) ? names : [metric, ...names];
  const titleOf = (name: string) => {
    const { title } = explain(name);
    return title === name ? name : `${title} (${name})`;
  };
  return (
    <li className="muted">
      <label>
        Compare by{" "}
        <select
          className="input"
          value={metric ?? ""}
          onChange={({ target }) => set({ by: target.value })}
        >
          <option value="">what decides by default</option>
          {listed.map((name) => (
            <option key={name} value={name}>
              {titleOf(name)}
            </option>
          ))}
        </select>
      </label>
    </li>
  );
}
