/** Agreement in words: numbers as they read, and why there is none. Pure; Data and Now use it. */
import type { Agreement, Facts, Project } from "@/api/types";
import { percent as percentOf, plural } from "@/lib/format";

type Pairwise = Facts["agreement"];
type Share = Facts["first_shown"];

/** Comparisons without which there is no interval; the server decides, this only explains. */
const FEWEST = 20;

/** 0.618 -> "0.62"; what is not defined is "n/a", never a number. Only 1 itself is "1.00". */
export function decimals(value: number | null): string {
  if (value === null) return "n/a";
  return value < 1 && value.toFixed(2) === "1.00"
    ? "over 0.99"
    : value
        .toFixed(2)
        .replace(/^-0\.00$/, "0.00")
        .replace("-", "−");
}

export function percent(value: number | null): string {
  return value === null ? "n/a" : percentOf(value, 0);
}

export function range(interval: readonly [number, number] | null, read = decimals): string {
  return interval === null ? "n/a" : `${read(interval[0])} to ${read(interval[1])}`;
}

/** Why there is no agreement, and what to do about it; null where there is one. */
export function whyUndefined(found: Agreement): string | null {
  const { value, comparisons } = found.everybody.agreement;
  if (value !== null) return null;
  if (found.judged_twice === 0)
    return "No comparison was ranked by two annotators. Let a second person rank. Where comparisons want one judgment each, first ask for two of some of them: in Settings, on the Project tab, for new and for existing comparisons.";
  if (comparisons === 0)
    return "Comparisons were ranked twice, but no two of the same responses were placed by both annotators. Ask annotators to place all responses.";
  return "All responses were tied in every comparison that was ranked twice, so agreement cannot be told from chance.";
}

type Wanted = Pick<Project, "judgments_per_comparison" | "overlap_first" | "overlap_share">;

/** When there will be an agreement, in a project without judgments. */
export function whenKnown(project: Wanted): string {
  const { judgments_per_comparison: each, overlap_first: first, overlap_share: share } = project;
  if (each > 1 || first > 0 || share > 0)
    return "As soon as two annotators have ranked the same comparison, this page shows how far they agree.";
  return "This page shows how far two annotators agree who ranked the same comparison. New comparisons of this project want one judgment each: ask for two of some of them in Settings, on the Project tab.";
}

/** Why an agreement has no interval; null where it has one. */
export function whyNoInterval({ interval, comparisons }: Pairwise): string | null {
  if (interval !== null) return null;
  return `No interval yet: it ${needed(comparisons, " ranked by two annotators")}`;
}

function needed(comparisons: number, which = ""): string {
  return `needs ${FEWEST} comparisons${which}; there ${comparisons === 1 ? "is" : "are"} ${comparisons}.`;
}

/** How sure an agreement is: its interval, or of how few comparisons it is. */
export function certainty({ interval, comparisons }: Pairwise): string {
  return interval === null
    ? `${plural(comparisons, "comparison")}: too few for an interval`
    : `95 % interval ${range(interval)}`;
}

/** How sure a share is: its interval, or that it is of too few comparisons for one. */
export function shareCertainty({ interval, comparisons }: Share): string {
  return interval === null
    ? `95 % interval n/a: it ${needed(comparisons)}`
    : `95 % interval ${range(interval, percent)}, over ${plural(comparisons, "comparison")}.`;
}

/** What the headline says, as a sentence with both shares that it is made of. */
export function headline({ observed, expected }: Pairwise): string {
  return `Averaged over comparisons, two annotators agreed on ${percent(observed)} of the pairs of responses that both placed: which is better, or that they are equal. By chance alone it would have been ${percent(expected)}.`;
}

/** Whether a share's interval excludes chance: "above", "below", or null where nobody can tell. */
export function besideChance(share: Share): "above" | "below" | null {
  const { interval, by_chance: chance } = share;
  if (interval === null || chance === null) return null;
  if (interval[0] > chance) return "above";
  return interval[1] < chance ? "below" : null;
}
