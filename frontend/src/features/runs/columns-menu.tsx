/** Which columns the table has: those of every run, and any of configs and metrics. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { runKeysQuery } from "@/api/runs";
import { Dialog } from "@/components/dialog";
import { Missing } from "@/components/states";

import { BUILT_IN, DEFAULT_COLUMNS, isKey, MOST_KEYS } from "./view";

/** Shown at most; the field finds the others. */
const MOST_FOUND = 40;

interface MenuProps {
  readonly projectId: string;
  readonly columns: readonly string[];
  /** What becomes of the columns that there are now. */
  readonly onColumns: (of: (columns: readonly string[]) => readonly string[]) => void;
  readonly onClose: () => void;
}

export function ColumnsMenu({ projectId, columns, onColumns, onClose }: MenuProps) {
  const [part, setPart] = useState("");
  const asked = useQuery(runKeysQuery(projectId));
  const known = asked.data;
  const offered = [
    ...(known?.metrics.flatMap((name) =>
      ["best", "metric", "min", "max"].map((kind) => `${kind}.${name}`),
    ) ?? []),
    ...(known?.config ?? []),
  ].filter((key) => !columns.includes(key) && key.toLowerCase().includes(part.toLowerCase()));
  const chosen = columns.filter(isKey);
  const isFull = chosen.length >= MOST_KEYS;
  const toggle = (column: string) =>
    onColumns((now) =>
      now.includes(column) ? now.filter((one) => one !== column) : [...now, column],
    );
  const box = (column: string, label: string) => (
    <label key={column} className="column-choice">
      <input
        type="checkbox"
        checked={columns.includes(column)}
        disabled={isFull && isKey(column) && !columns.includes(column)}
        onChange={() => toggle(column)}
      />
      {isKey(column) ? <code>{label}</code> : label}
    </label>
  );
  return (
    <Dialog
      title="Columns"
      onClose={onClose}
      className="columns-menu"
      footer={
        <>
          <button type="button" className="btn" onClick={() => onColumns(() => DEFAULT_COLUMNS)}>
            Default columns
          </button>
          <button type="button" className="btn primary" onClick={onClose}>
            Done
          </button>
        </>
      }
    >
      <fieldset>
        <legend className="small muted">Columns of every run</legend>
        <div className="column-choices">
          {Object.entries(BUILT_IN).map(([column, { title }]) => box(column, title))}
        </div>
      </fieldset>
      <fieldset>
        <legend className="small muted">
          Config keys and metrics ({chosen.length} of {MOST_KEYS} chosen)
        </legend>
        <input
          className="input"
          type="search"
          aria-label="Find a config key or metric"
          placeholder="Find a config key or metric"
          value={part}
          onChange={({ target }) => setPart(target.value)}
        />
        <div className="column-choices keys">
          {chosen.map((key) => box(key, key))}
          {offered.slice(0, MOST_FOUND).map((key) => box(key, key))}
        </div>
        <Missing query={asked} what="The settings and metrics" />
        {offered.length > MOST_FOUND && (
          <p className="small muted">
            And {offered.length - MOST_FOUND} more: type a part of the name.
          </p>
        )}
        {known !== undefined && offered.length === 0 && chosen.length === 0 && (
          <p className="small muted">
            {part === "" ? "This project has no runs yet." : "No name matches."}
          </p>
        )}
      </fieldset>
    </Dialog>
  );
}
