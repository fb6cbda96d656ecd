/** Environments of groups in words. Pure. */
import type { EnvironmentDifferences, FactValue, SeedGroup } from "@/api/types";
import { plural } from "@/lib/format";

const LONGEST_HASH = 10;
const HASH = /^[0-9a-f]{40,64}$/;

const shown = (value: string) => (HASH.test(value) ? value.slice(0, LONGEST_HASH) : value);

/** The values that a group has of a fact; of several, how many of its runs have each. */
export function valuesOf(values: readonly FactValue[], group: SeedGroup): readonly string[] {
  const own = values
    .map(({ value, runs }) => ({ value, n: runs.filter((run) => group.runs.includes(run)).length }))
    .filter(({ n }) => n > 0);
  if (own.length === 0) return ["–"];
  const isOne = own.length === 1 && own[0]?.n === group.runs.length;
  return own.map(({ value, n }) =>
    isOne ? shown(value) : `${shown(value)} (${n} of ${plural(group.runs.length, "run")})`,
  );
}

/** What was not recorded, a sentence for each set of runs. */
export function unrecordedWords(
  { unrecorded }: EnvironmentDifferences,
  total: number,
): readonly string[] {
  const whose = (runs: readonly string[]) =>
    runs.length === total ? "any of these runs" : plural(runs.length, "run");
  const { environment = [], ...facts } = unrecorded;
  const byRuns = new Map<string, { runs: readonly string[]; names: string[] }>();
  for (const [name, runs] of Object.entries(facts)) {
    const known = byRuns.get(runs.join()) ?? { runs, names: [] };
    byRuns.set(runs.join(), { runs, names: [...known.names, name] });
  }
  return [
    ...(environment.length > 0
      ? [`No environment was recorded for ${whose(environment)}: a run reports it when it starts.`]
      : []),
    ...[...byRuns.values()].map(
      ({ runs, names }) =>
        `Not recorded by ${whose(runs)}: ${names.map((name) => `\`${name}\``).join(", ")}.`,
    ),
  ];
}
