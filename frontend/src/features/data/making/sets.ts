/** The sets that the service makes, and what may be asked for of each. */
import type { ProblemSetBody } from "@/api/types";
import { number, plural } from "@/lib/format";

export type SetName = ProblemSetBody["set"];

interface Kind {
  readonly title: string;
  /** What its levels are, in the plural. */
  readonly levels: string;
  readonly first: number;
  readonly last: number;
  readonly about: string;
}

const GRADED = { levels: "levels", first: 1, last: 5 };
export const SETS: Readonly<Record<SetName, Kind>> = {
  knights: {
    ...{ title: "Knights and Knaves", levels: "people", first: 2, last: 8 },
    about: "Who tells the truth? Each puzzle has exactly one solution.",
  },
  arithmetic: {
    ...{ title: "Arithmetic", ...GRADED },
    about: "From a sum of two digits to three operations.",
  },
  stories: {
    ...{ title: "Word problems", ...GRADED },
    about: "Short stories with one to five changes of a number.",
  },
  lists: {
    ...{ title: "Lists in any order", ...GRADED },
    about: "Words that two lists share, or even numbers: 3 to 11 items.",
  },
  sorting: {
    ...{ title: "Sorted lists", ...GRADED },
    about: "3 to 11 words to sort by the alphabet.",
  },
};
export const NAMES = Object.keys(SETS) as SetName[];

/** Of each level, and together. */
export const MOST_OF_LEVEL = 5_000;
export const MOST_TOGETHER = 20_000;

export interface Typed {
  readonly set: SetName;
  readonly first: number;
  readonly last: number;
  readonly count: string;
  readonly seed: string;
  readonly split: NonNullable<ProblemSetBody["split"]>;
}

export const PROPOSED: Typed = {
  ...{ set: "knights", first: 2, last: 8, count: "100", seed: "0", split: "train" },
};

/** Another set, with all of its levels. */
export const ofSet = (typed: Typed, set: SetName): Typed => {
  const { first, last } = SETS[set];
  return { ...typed, set, first, last };
};

export const levelsOf = ({ set }: Typed): number[] => range(SETS[set].first, SETS[set].last);

export const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, place) => first + place);

export const bodyOf = ({ first, last, count, seed, ...typed }: Typed): ProblemSetBody => ({
  ...{ set: typed.set, split: typed.split },
  ...{ levels: range(first, last), count: Number(count), seed: Number(seed) },
});

const isWhole = (text: string, least: number, most: number): boolean =>
  /^\d+$/.test(text.trim()) && Number(text) >= least && Number(text) <= most;

/** What cannot be asked for, by field. */
export function wrongWith(typed: Typed): { count?: string; seed?: string } {
  const wrong: { count?: string; seed?: string } = {};
  const n = typed.last - typed.first + 1;
  if (!isWhole(typed.count, 1, MOST_OF_LEVEL))
    wrong.count = `Enter a whole number from 1 to ${number(MOST_OF_LEVEL)}.`;
  else if (n * Number(typed.count) > MOST_TOGETHER)
    wrong.count =
      `${number(Number(typed.count))} for each of ${n} are ${number(n * Number(typed.count))} problems. ` +
      `At most ${number(MOST_TOGETHER)} are made at once: enter ${number(Math.floor(MOST_TOGETHER / n))} or less.`;
  if (!isWhole(typed.seed, 0, Number.MAX_SAFE_INTEGER))
    wrong.seed = `Enter a whole number from 0 to ${number(Number.MAX_SAFE_INTEGER)}.`;
  return wrong;
}

/** How many that are together. */
export function together({ first, last, count }: Typed): string {
  const n = last - first + 1;
  const each = Number(count);
  return `${plural(n, "level")} × ${number(each)} = ${plural(n * each, "problem")}`;
}
