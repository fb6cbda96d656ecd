/** A run keeps its colour in every chart, table and legend: by its place among the runs shown. */
export const COLOURS = ["--s1", "--s2", "--s3", "--s4", "--s5", "--s6"] as const;

/** What a CSS variable is right now; a canvas cannot read variables by itself. */
export function resolved(variable: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}
