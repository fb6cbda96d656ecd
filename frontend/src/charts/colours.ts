/** A run keeps its colour in every chart, table and legend: by its place among the runs shown. */
export const COLOURS = ["--s1", "--s2", "--s3", "--s4", "--s5", "--s6"] as const;

/** What a CSS variable is right now; a canvas cannot read variables by itself. */
export function resolved(variable: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}

/** What CSS variables are in the light theme, whichever is shown: pictures are put on white paper. */
export function lightColours(): (variable: string) => string {
  const paper = document.createElement("i");
  paper.className = "theme-light";
  document.body.append(paper);
  const style = getComputedStyle(paper);
  const known = new Map<string, string>(
    LIGHT.map((one) => [one, style.getPropertyValue(one).trim()]),
  );
  paper.remove();
  return (variable) => known.get(variable) ?? "#000000";
}

const LIGHT = [...COLOURS, "--ink", "--ink-2", "--ink-3", "--line", "--surface"] as const;
