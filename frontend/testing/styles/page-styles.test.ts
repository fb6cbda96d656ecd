/**
 * The stylesheet of a page stays in the document when somebody goes on to another page. A rule in it
 * that matches there, too, changes that page until it is loaded afresh.
 */
import { readFileSync } from "node:fs";
import { relative } from "node:path";

import { expect, it } from "vitest";

import { pages, read, SRC, type Page } from "./modules";
import { isLike, neededBy, selectorsOf } from "./selectors";

/** Selectors for each of whose elements a page has one like it. */
function matching(selectors: readonly string[], { elements }: Pick<Page, "elements">): string[] {
  return selectors.filter((selector) =>
    neededBy(selector).every((needed) => elements.some((one) => isLike(one, needed))),
  );
}

const ALL = pages();
const SHEETS = [...new Set(ALL.flatMap(({ sheets }) => [...sheets]))];
const SELECTORS = new Map(
  SHEETS.map((sheet) => [sheet, selectorsOf(readFileSync(sheet, "utf8"))] as const),
);

it.each(ALL.map((page) => [relative(SRC, page.entry), page] as const))(
  "no rule of another page's stylesheet matches on %s",
  (_, page) => {
    expect(page.sheets.size).toBeGreaterThan(0);
    const strays = SHEETS.filter((sheet) => !page.sheets.has(sheet)).flatMap((sheet) =>
      matching(SELECTORS.get(sheet) ?? [], page).map((one) => `${relative(SRC, sheet)}: ${one}`),
    );
    expect(strays, "Name the class or the root of the page in these selectors").toEqual([]);
  },
);

const SHOWN = `
  const Shown = () => <>
    <td className="verdict" />
    <p className={isGood ? "good told" : kind === "bare" ? "none" : undefined} />
    <p className={\`row tone-\${tone} \${isWide ? "wide" : ""} last\`} />
    <Card className="own"><b /></Card>
  </>;`;

it.each([
  ".verdict",
  ".verdict::before, .other",
  "td.verdict:not(.other) > b",
  "p.good.told",
  ".none",
  ".row.wide.last",
  "section.own",
  ":is(.other, .own) b",
  ":where(.own) :is(b, i)",
  ".own:has(> b)",
  "@media (max-width: 700px) { .own",
])("sees that a page has %s", (selector) => {
  expect(matching(selectorsOf(`${selector} {}`), read(SHOWN, "shown.tsx"))).not.toEqual([]);
});

it.each([
  ".other",
  "th.verdict",
  "p.verdict",
  ".verdict.good",
  ".bare",
  ".tone-",
  ".other .verdict",
  ".verdict .other",
  ":is(.other, .another) b",
  ":where(.other) .verdict",
  ".verdict:has(> .other)",
  "/* .verdict {} */ .other",
])("sees that a page does not have %s", (selector) => {
  expect(matching(selectorsOf(`${selector} {}`), read(SHOWN, "shown.tsx"))).toEqual([]);
});
