/** Files that the browser saves. */
import { csvOf, type Cell } from "./csv";
import { fileName } from "./file-name";

export function save(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // Some browsers begin to read only after this turn.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** As comma-separated values, in a file that is named after the parts. */
export function saveCsv(rows: Iterable<readonly Cell[]>, parts: readonly string[]): void {
  save(new Blob([csvOf(rows)], { type: "text/csv;charset=utf-8" }), fileName(parts, "csv"));
}
