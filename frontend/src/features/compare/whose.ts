/** Whose chart it is: the titles and the names of saved files tell comparisons apart. Pure. */
import type { Run, SeedGroup } from "@/api/types";
import { letterOf } from "@/components/seed-groups/group-names";
import { partOfRuns, partsOfRun } from "@/lib/files/file-name";
import { plural } from "@/lib/format";

/** The names of runs by id; those that several runs share with the beginning of the id. */
export function namesApart(runs: readonly Pick<Run, "id" | "name">[]): ReadonlyMap<string, string> {
  const names = runs.map(({ name }) => name);
  const shared = new Set(names.filter((name, place) => names.indexOf(name) !== place));
  return new Map(
    runs.map((run) => [run.id, shared.has(run.name) ? partsOfRun(run).join(" ") : run.name]),
  );
}

/** What fits into a title. */
const MOST_LETTERS = 110;

/** "A: GRPO, B: DPO": the groups that are shown; one without a name is called by its runs. */
export function groupsText(
  groups: readonly SeedGroup[],
  nameOf: (run: string) => string,
  isShown: (group: SeedGroup, place: number) => boolean = () => true,
): string {
  const said = groups.flatMap((group, place) => {
    if (!isShown(group, place)) return [];
    const { name, runs } = group;
    const [only = ""] = runs;
    const plain = runs.length === 1 ? nameOf(only) : plural(runs.length, "run");
    return [`${letterOf(place)}: ${name === "" ? plain : name}`];
  });
  const letters = [...said.join(", ")];
  if (letters.length <= MOST_LETTERS) return letters.join("");
  return `${letters.slice(0, MOST_LETTERS - 1).join("")}…`;
}

/** What the name of a file begins with that is saved of a comparison. */
export function partsOfComparison(
  groups: readonly SeedGroup[],
  runs: ReadonlyMap<string, Run>,
): readonly string[] {
  const names = namesApart([...runs.values()]);
  return ["compare", groupsText(groups, (run) => names.get(run) ?? run), partOfGroups(groups)];
}

/** The part of the name of a file by which comparisons differ whose groups are called alike. */
export const partOfGroups = (groups: readonly SeedGroup[]): string =>
  partOfRuns(groups.flatMap(({ runs }, place) => [letterOf(place), ...runs]));
