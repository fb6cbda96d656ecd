/** A list as a table: a frame that scrolls by itself, headings, a row per item; or what to do first. */
import type { ReactNode } from "react";

/** A heading; "num" sets its column of numbers to the right. */
export type Column = string | readonly [string, "num"];

export function Table<Item>(props: {
  columns: readonly Column[];
  items: readonly Item[];
  /** Shown instead of a table without rows. */
  empty?: ReactNode;
  /** The row of an item, with a key. */
  children: (item: Item) => ReactNode;
}) {
  if (props.items.length === 0 && props.empty !== undefined) return props.empty;
  return (
    <div className="table-wrap" tabIndex={0}>
      <table className="table">
        {props.columns.length > 0 && (
          <thead>
            <tr>{props.columns.map(heading)}</tr>
          </thead>
        )}
        <tbody>{props.items.map(props.children)}</tbody>
      </table>
    </div>
  );
}

function heading(column: Column) {
  const [label, className] = typeof column === "string" ? [column, undefined] : column;
  return (
    <th key={label} className={className}>
      {label}
    </th>
  );
}
