/** What an experiment is called, and what can be done with it. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";

import { showAnswer } from "@/api/cache/show-answer";
import { archiveExperiment, experimentQuery } from "@/api/experiments";
import type { Experiment } from "@/api/types";
import { PageTitle } from "@/components/page-title";
import { Icon } from "@/components/icons";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { Ago } from "@/components/text/clock";
import { plural } from "@/lib/format";

export function NewRunLink(props: { experiment: Experiment; isMain?: boolean }) {
  const { experiment, isMain = false } = props;
  return (
    <Link
      className={isMain ? "btn primary" : "btn"}
      to={`/projects/${experiment.project_id}/runs/new?experiment=${experiment.id}`}
    >
      <Icon name="plus" /> New run
    </Link>
  );
}

function ArchiveButton({ experiment }: { experiment: Experiment }) {
  const client = useQueryClient();
  const isArchived = experiment.archived_at !== null;
  const asked = useMutation({
    mutationFn: (toArchive: boolean) => archiveExperiment(experiment.id, toArchive),
    onSuccess: async (answer) => {
      await showAnswer(client, experimentQuery(experiment.id), answer);
      await client.invalidateQueries({ queryKey: ["experiments", experiment.project_id] });
    },
  });
  return (
    <>
      <PendingButton isPending={asked.isPending} onPress={() => asked.mutate(!isArchived)}>
        {isArchived ? "Restore" : "Archive"}
      </PendingButton>
      <Refused asked={asked} />
    </>
  );
}

export function ExperimentHead(props: {
  experiment: Experiment;
  mayChange: boolean;
  isEditing: boolean;
  onEdit: () => void;
}) {
  const { experiment, mayChange } = props;
  const base = `/projects/${experiment.project_id}`;
  const runs = experiment.run_ids;
  return (
    <div className="page-head">
      <div>
        <p className="small">
          <Link to={`${base}/experiments`}>Experiments</Link>
        </p>
        <PageTitle>{experiment.name}</PageTitle>
        <h1>{experiment.name}</h1>
        <p className="small">
          {experiment.archived_at !== null && "Archived. "}
          {plural(experiment.run_count, "run")}, changed{" "}
          <Ago at={experiment.changed_at ?? experiment.created_at} />
        </p>
      </div>
      <span className="grow" />
      {runs.length > 1 && (
        <Link className="btn" to={`${base}/compare?runs=${runs.join(",")}`}>
          <Icon name="differences" /> Compare
        </Link>
      )}
      {mayChange && (
        <>
          <NewRunLink experiment={experiment} />
          {!props.isEditing && (
            <button type="button" className="btn" onClick={props.onEdit}>
              <Icon name="note" /> {experiment.conclusion === "" ? "Edit and conclude" : "Edit"}
            </button>
          )}
          <ArchiveButton experiment={experiment} />
        </>
      )}
    </div>
  );
}
