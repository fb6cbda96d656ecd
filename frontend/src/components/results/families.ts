/** Tables of one kind for several sets are one table with a choice of set. Pure. */
import type { ResultsTable } from "@/api/types";
import { setMark } from "@/components/seed-groups/set-mark";

export interface Family {
  readonly name: string;
  readonly tables: readonly ResultsTable[];
}

/** In the order of the answer. */
export function familiesOf(tables: readonly ResultsTable[]): readonly Family[] {
  const names = [...new Set(tables.map((table) => table.name))];
  return names.map((name) => ({ name, tables: tables.filter((table) => table.name === name) }));
}

/** What a set is called where one is chosen. */
export const choiceOf = (table: ResultsTable): string => table.set + setMark(table.columns);

/** The table of the set that was chosen, else the first. */
export const shownOf = (family: Family, set: string | null): ResultsTable | undefined =>
  family.tables.find((table) => table.set === set) ?? family.tables[0];
