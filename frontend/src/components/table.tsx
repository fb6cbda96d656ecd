/** A list as a table: a frame that scrolls by itself, headings, a row per item; or what to do first. */
import { useState, type ReactNode } from "react";

/** A heading; "num" sets its column of numbers to the right. */
export type Column = string | readonly [string, "num"];

export function Table<Item>(props: {
  columns: readonly Column[];
  items: readonly Item[];
  /** Shown instead of a table without rows. */
  empty?: ReactNode;
  /** How many rows are shown before somebody asks for all. */
  first?: number;
  /** On a phone each row is a card, whose cells say with "data-label" what they are. */
  hasCards?: boolean;
  /** The row of an item, with a key. */
  children: (item: Item) => ReactNode;
}) {
  const [isWhole, setWhole] = useState(false);
  const { items, first = items.length } = props;
  if (items.length === 0 && props.empty !== undefined) return props.empty;
  const shown = isWhole ? items : items.slice(0, first);
  return (
    <>
      <div className="table-wrap" tabIndex={0}>
        <table className={props.hasCards ? "table as-cards" : "table"}>
          {props.columns.length > 0 && (
            <thead>
              <tr>{props.columns.map(heading)}</tr>
            </thead>
          )}
          <tbody>{shown.map(props.children)}</tbody>
        </table>
      </div>
      {shown.length < items.length && (
        <div className="all-rows">
          <button type="button" className="btn" onClick={() => setWhole(true)}>
            Show all {items.length.toLocaleString("en-US")}
          </button>
        </div>
      )}
    </>
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
