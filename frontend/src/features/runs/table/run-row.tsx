/** A run of the table: chosen by its box or by keys, its name and tags edited where they stand. */
import { memo } from "react";
import { Link } from "react-router";

import { Icon } from "@/components/icons";
import { NameAndTags } from "@/components/run-edit/name-and-tags";
import { PlainText } from "@/components/text/plain-text";

import { Cell, type CellProps } from "./cells";
import { BUILT_IN, isKey } from "../view";

export interface RowProps extends CellProps {
  readonly columns: readonly string[];
  readonly isChosen: boolean;
  /** Whether the keys are at it. */
  readonly isAt: boolean;
  readonly isEdited: boolean;
  readonly mayEdit: boolean;
  readonly onChoose: (runId: string, isRange: boolean) => void;
  readonly onEdit: (runId: string | null) => void;
  readonly onTag: (tag: string) => void;
}

export const RunRow = memo(function RunRow(props: RowProps) {
  const { run, columns, isAt, isChosen, isEdited, onChoose, onEdit } = props;
  const classes = [isAt && "at", isChosen && "chosen"].filter(Boolean).join(" ");
  return (
    <tr className={classes} aria-selected={isChosen}>
      <td className="choice">
        <input
          type="checkbox"
          aria-label={`Choose ${run.name}`}
          checked={isChosen}
          onChange={() => undefined}
          onClick={(event) => onChoose(run.id, event.shiftKey)}
        />
      </td>
      <td className="name" role="rowheader">
        {isEdited ? (
          <NameAndTags run={run} onClose={() => onEdit(null)} />
        ) : (
          <>
            <Link className="item-name" to={`/projects/${run.project_id}/runs/${run.id}`}>
              {run.name}
            </Link>
            {run.archived_at !== null && <span className="small muted"> archived </span>}
            {run.tags.map((tag) => (
              <button
                type="button"
                className="tag"
                key={tag}
                title={`Show runs with the tag ${tag}`}
                onClick={() => props.onTag(tag)}
              >
                <PlainText text={tag} />
              </button>
            ))}
            {props.mayEdit && (
              <button
                type="button"
                className="btn ghost icon edit"
                aria-label={`Edit the name and tags of ${run.name}`}
                onClick={() => onEdit(run.id)}
              >
                <Icon name="note" />
              </button>
            )}
          </>
        )}
      </td>
      {columns.map((column) => (
        <td
          key={column}
          data-label={BUILT_IN[column]?.title ?? column}
          className={isNumeric(column) ? "num" : "nowrap"}
        >
          <Cell
            column={column}
            run={run}
            headline={props.headline}
            isVerdictLost={props.isVerdictLost}
            experiment={props.experiment}
          />
        </td>
      ))}
    </tr>
  );
});

export const isNumeric = (column: string) =>
  column === "latest" || (isKey(column) && !column.startsWith("config."));
