/** What became of an import: how many records came in, which did not and why. */
import { Link } from "react-router";

import type { ImportKind } from "@/api/projects";
import { Icon } from "@/components/icons";
import { plural } from "@/lib/format";

import type { Brought, Counts } from "./folder/send";
import { RejectedRows } from "./rejected-rows";

/** Where the records of a kind are seen, if not in a tab of its name. */
const TAB_OF: Partial<Record<ImportKind, string>> = {
  preferences: "judgments",
};

export interface Imported {
  readonly counts: Counts;
  readonly kind: ImportKind;
  /** Null for a file. */
  readonly folder: Omit<Brought, "counts"> | null;
}

export function ImportOutcome({
  projectId,
  counts,
  kind,
  folder,
}: Imported & { projectId: string }) {
  const { accepted, duplicates, rejected_total: refused } = counts;
  const tab = TAB_OF[kind] ?? kind;
  const isEmpty = accepted + duplicates + refused === 0;
  const isGood = refused === 0 && !isEmpty;
  const them = refused === 1 ? "it" : "them";
  return (
    <section className="card" aria-live="polite">
      <div className={`note ${isGood ? "good" : "warn"} import-note`}>
        <Icon name={isGood ? "check" : "alert"} />
        <span className="grow">
          <b>{plural(accepted, "record")} imported.</b>
          {isEmpty &&
            " No records were found in the file. It must be JSONL (one JSON object per line), JSON, CSV or Parquet."}
          {duplicates > 0 &&
            ` ${plural(duplicates, "record")} ${duplicates === 1 ? "was" : "were"} already in the project.`}
          {refused > 0 &&
            (folder === null
              ? ` ${plural(refused, "row")} rejected. Correct ${them} and import the file again.`
              : ` ${plural(refused, "file")} rejected. Correct ${them} and import the folder again.`)}
          {folder !== null && leftOut(folder)}
        </span>
        <Link className="btn" to={`/projects/${projectId}/data/${tab}`}>
          View records
        </Link>
      </div>
      {folder === null ? (
        <RejectedRows result={counts} numbered="Line, element or row" rows="rejected rows" />
      ) : (
        <RejectedRows
          result={counts}
          numbered="File"
          rows="rejected files"
          nameOf={(place) => folder.paths[place] ?? ""}
        />
      )}
    </section>
  );
}

function leftOut({ ofOtherSplit, ofOtherKinds }: Omit<Brought, "counts">): string {
  const said = [
    ofOtherSplit > 0 && ` ${plural(ofOtherSplit, "file")} of the other split left out.`,
    ofOtherKinds > 0 &&
      ` ${plural(ofOtherKinds, "file")} left out whose name does not end in .json.`,
  ];
  return said.filter(Boolean).join("");
}
