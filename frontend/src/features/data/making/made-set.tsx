/** Problems that are being made, and what became of them: counted by level. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link } from "react-router";

import { Problem } from "@/api/client";
import { cancelJob, hasEnded, jobQuery } from "@/api/projects";
import type { Job, ProblemSet } from "@/api/types";
import { PendingButton } from "@/components/form/pending-button";
import { Icon } from "@/components/icons";
import { Failure } from "@/components/states";
import { Table } from "@/components/table";
import { Sentence } from "@/components/text/sentence";
import { number, plural, sentence } from "@/lib/format";

import { linkOf } from "../freezing/chosen-prompts";
import { RejectedRows } from "../rejected-rows";
import { SETS } from "./sets";

export function MadeSet(props: { job: Job; projectId: string; onDismiss: () => void }) {
  const { job, projectId } = props;
  const client = useQueryClient();
  useEffect(() => {
    if (job.state === "succeeded")
      void client.invalidateQueries({ queryKey: ["project", projectId] });
  }, [client, job.state, projectId]);
  if (!hasEnded(job)) return <Making job={job} />;
  if (job.state === "succeeded")
    return <Counts made={job.result as unknown as ProblemSet} {...props} />;
  if (job.state === "cancelled")
    return (
      <div className="note" role="status">
        <Icon name="alert" />
        <span className="grow">
          <b>Cancelled.</b> No problem was imported.
        </span>
        <button type="button" className="btn" onClick={props.onDismiss}>
          Dismiss
        </button>
      </div>
    );
  const { status, ...said } = job.error as unknown as { status: number };
  return <Failure error={new Problem(status, said)} onDismiss={props.onDismiss} />;
}

function Making({ job }: { job: Job }) {
  const client = useQueryClient();
  const cancelling = useMutation({
    mutationFn: () => cancelJob(job.id),
    onSuccess: (now) => client.setQueryData(jobQuery(job.id).queryKey, now),
  });
  const { done, total } = job.progress;
  const percent = total === null ? 0 : Math.floor((100 * done) / Math.max(1, total));
  return (
    <section className="card padded making">
      <span role="status" className="small">
        {job.state === "queued" ? "Waiting for its turn…" : "Making the problems…"}
      </span>
      <div
        className="bar"
        role="progressbar"
        aria-label="Problems made and written"
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <i style={{ width: `${percent}%` }} />
      </div>
      <span className="small muted mono nowrap">{percent} %</span>
      <PendingButton isPending={cancelling.isPending} onPress={() => cancelling.mutate()}>
        Cancel
      </PendingButton>
      {cancelling.error !== null && <Failure error={cancelling.error} />}
    </section>
  );
}

/** Of a level; the last two where there are any. */
const COUNTS: readonly (readonly [
  string,
  (level: ProblemSet["levels"][number]) => string,
  ((made: ProblemSet) => boolean)?,
])[] = [
  ["Made", ({ made, wanted }) => (made === wanted ? "" : `${number(made)} of `) + number(wanted)],
  ["New", ({ accepted }) => number(accepted)],
  ["Already there", ({ duplicates }) => number(duplicates), ({ duplicates }) => duplicates > 0],
  ["Rejected", ({ rejected }) => number(rejected), ({ rejected_total: n }) => n > 0],
];

function Counts(props: { made: ProblemSet; projectId: string; onDismiss: () => void }) {
  const { made, projectId } = props;
  const { accepted, duplicates, rejected_total: refused, levels } = made;
  const lacking = levels.filter(({ reason }) => reason !== null);
  const name = made.set === "knights" ? "People" : "Level";
  const isGood = refused === 0 && lacking.length === 0;
  const counts = COUNTS.filter(([, , isAny]) => isAny === undefined || isAny(made));
  return (
    <section className="card" aria-live="polite" aria-label="Problems made">
      <div className={`note ${isGood ? "good" : "warn"} import-note`}>
        <Icon name={isGood ? "check" : "alert"} />
        <span className="grow">
          <b>{plural(accepted, "prompt")} imported.</b> {SETS[made.set].title}, {made.split} split,
          seed {made.seed}.
          {duplicates > 0 &&
            ` ${plural(duplicates, "problem")} ${duplicates === 1 ? "was" : "were"} already in the project.`}
          {refused > 0 && ` ${plural(refused, "problem")} rejected.`}
        </span>
        <Link className="btn" to={`/projects/${projectId}/data`}>
          View prompts
        </Link>
        <Link
          className="btn"
          to={`/projects/${projectId}/data/snapshots?${new URLSearchParams({
            freeze: "prompts",
            only: linkOf({ tags: [], metadata: { set: [made.set], split: [made.split] } }),
          })}`}
        >
          Freeze the {made.split} split
        </Link>
        <button type="button" className="btn" onClick={props.onDismiss}>
          Dismiss
        </button>
      </div>
      <Table columns={[name, ...counts.map(([title]) => [title, "num"] as const)]} items={levels}>
        {(one) => (
          <tr key={one.level}>
            <td>{one.level}</td>
            {counts.map(([title, count]) => (
              <td key={title} className="num nowrap">
                {count(one)}
              </td>
            ))}
          </tr>
        )}
      </Table>
      {lacking.map(({ level, reason }) => (
        <p key={level} className="small muted import-part">
          {name} {level}: <Sentence text={sentence(reason ?? "")} />
        </p>
      ))}
      <RejectedRows result={made} numbered="Problem" rows="rejected problems" />
    </section>
  );
}
