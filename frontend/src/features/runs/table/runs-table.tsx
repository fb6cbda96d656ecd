/** The runs as a table: headings that sort, rows near the screen, the next page before its end. */
import { useEffect, useRef } from "react";

import { FAILED, type Standing } from "@/components/metrics/headline";

import { isNumeric, RunRow, type RowProps } from "./run-row";
import type { Selection } from "./selection";
import { grown } from "../told";
import type { LiveRow } from "../use-live-rows";
import { useWindow } from "./use-window";
import { ariaSort, BUILT_IN, isKey, nextSort } from "../view";

interface TableProps extends Pick<
  RowProps,
  "columns" | "mayEdit" | "onChoose" | "onEdit" | "onTag"
> {
  readonly rows: readonly LiveRow[];
  readonly headlines: ReadonlyMap<string, Standing>;
  /** The runs whose verdicts did not load. */
  readonly lostVerdicts: ReadonlySet<string>;
  readonly experiments: ReadonlyMap<string, string>;
  readonly selection: Selection;
  readonly editedId: string | null;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  readonly onChooseAll: () => void;
}

export function RunsTable(props: TableProps) {
  const { rows, columns, selection } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const place = rows.findIndex(({ run }) => run.id === selection.at);
  const drawn = useWindow(rows.length, body, { id: selection.at, place });
  const chosen = new Set(selection.chosen);
  const nChosen = rows.filter(({ run }) => chosen.has(run.id)).length;
  const spacer = (height: number) =>
    height > 0 && (
      <tr className="spacer" aria-hidden="true">
        <td colSpan={columns.length + 2} style={{ height }} />
      </tr>
    );
  return (
    <div className="table-wrap" tabIndex={0}>
      <table className="table runs-table as-cards">
        <thead>
          <tr>
            <th className="choice">
              <input
                type="checkbox"
                aria-label="Choose all runs that are listed"
                checked={nChosen > 0 && nChosen === rows.length}
                ref={(box) => {
                  if (box !== null) box.indeterminate = nChosen > 0 && nChosen < rows.length;
                }}
                onChange={props.onChooseAll}
              />
            </th>
            <Heading title="Name" sortKey="name" {...props} />
            {columns.map((column) => {
              const { title, sort: sortKey } = BUILT_IN[column] ?? { title: column, sort: column };
              const className = isNumeric(column) ? "num" : "";
              return (
                <Heading
                  key={column}
                  title={title}
                  sortKey={sortKey}
                  className={className}
                  {...props}
                />
              );
            })}
          </tr>
        </thead>
        <tbody ref={body}>
          {spacer(drawn.before)}
          {rows.slice(drawn.from, drawn.to).map(({ run, fresh }) => (
            <RunRow
              key={run.id}
              run={run}
              headline={trendOf(props.headlines.get(run.id), fresh)}
              isVerdictLost={props.lostVerdicts.has(run.id)}
              experiment={props.experiments.get(run.experiment_id ?? "")}
              columns={columns}
              isChosen={chosen.has(run.id)}
              isAt={selection.at === run.id}
              isEdited={props.editedId === run.id}
              mayEdit={props.mayEdit}
              onChoose={props.onChoose}
              onEdit={props.onEdit}
              onTag={props.onTag}
            />
          ))}
          {spacer(drawn.behind)}
        </tbody>
      </table>
    </div>
  );
}

const trendOf = (headline: Standing | undefined, fresh: LiveRow["fresh"]) =>
  headline === undefined || headline === FAILED ? headline : grown(headline, fresh);

interface HeadingProps extends Pick<TableProps, "sort" | "onSort"> {
  readonly title: string;
  readonly sortKey: string | undefined;
  readonly className?: string;
}

function Heading({ title, sortKey, className = "", sort, onSort }: HeadingProps) {
  const direction = ariaSort(sort, sortKey);
  const arrow = direction === "ascending" ? " ↑" : direction === "descending" ? " ↓" : "";
  const label = isKey(title) ? <code>{title}</code> : title;
  return (
    <th className={className} aria-sort={direction}>
      {sortKey === undefined ? (
        label
      ) : (
        <button type="button" className="heading" onClick={() => onSort(nextSort(sort, sortKey))}>
          {label}
          <span aria-hidden="true">{arrow}</span>
        </button>
      )}
    </th>
  );
}

/** Calls for the next page when the end of the table comes near. */
export function NearEnd({ onNear }: { onNear: () => void }) {
  const mark = useRef<HTMLDivElement>(null);
  const latest = useRef(onNear);
  useEffect(() => {
    latest.current = onNear;
  });
  useEffect(() => {
    const watch = new IntersectionObserver(
      // A page that is late gets several at once, the oldest first.
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) latest.current();
      },
      { rootMargin: "600px" },
    );
    if (mark.current !== null) watch.observe(mark.current);
    return () => watch.disconnect();
  });
  return <div ref={mark} />;
}
