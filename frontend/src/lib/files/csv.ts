/** Comma-separated values (RFC 4180) that no spreadsheet takes for a formula; pure. */

export type Cell = string | number | null;

/** What a spreadsheet reads as the beginning of a formula or a command. */
const FORMULA = /^[=+\-@\t\r]/;

/** A number as it is, to the last digit; a text never as a formula; no value as NaN. */
function cellText(cell: Cell): string {
  if (typeof cell === "number") return Number.isFinite(cell) ? String(cell) : "NaN";
  if (cell === null) return "NaN";
  const harmless = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

export const csvOf = (rows: Iterable<readonly Cell[]>): string =>
  Array.from(rows, (row) => `${row.map(cellText).join(",")}\r\n`).join("");
