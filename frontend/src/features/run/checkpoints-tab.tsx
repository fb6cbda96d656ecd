/** What a run has saved: its checkpoints, which of them are kept, and the files that came home. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import { modelQuery } from "@/api/models";
import {
  ANSWERS,
  answersAddress,
  artifactsQuery,
  checkpointsQuery,
  pinCheckpoint,
} from "@/api/runs";
import type { Checkpoint, Run } from "@/api/types";
import { PendingButton } from "@/components/form/pending-button";
import { Icon } from "@/components/icons";
import { Refused } from "@/components/refused";
import { Empty, Loaded } from "@/components/states";
import { Table } from "@/components/table";
import { Ago } from "@/components/text/clock";
import { Copyable } from "@/components/text/copyable";
import { Sentence } from "@/components/text/sentence";
import { useMayChange } from "@/components/use-may";
import { bytes, number, shortHash } from "@/lib/format";

import { BestAnswersDialog } from "./best-answers";
import { ContinueLink } from "./continue-link";
import { noCheckpoints, noFiles } from "./run-status";
import { bestSaid } from "./verdict/metric-said";
import { useVerdict } from "./verdict/use-verdict";

/** Pins a checkpoint that is not pinned, and lets go of one that is; the list follows. */
function usePins(runId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ step, is_pinned }: Checkpoint) => pinCheckpoint(runId, step, !is_pinned),
    onSettled: () => client.invalidateQueries({ queryKey: checkpointsQuery(runId).queryKey }),
  });
}

function BestPill({ run, step }: { run: Run; step: number }) {
  const [tone, text] = bestSaid(step, useVerdict(run).data ?? null);
  return (
    <span className={`pill ${tone}`} title="By the run's own evaluation">
      {text}
    </span>
  );
}

/** Where the best evaluation was, if no checkpoint has its weights; empty otherwise. */
function bestElsewhere(run: Run): string {
  const step = run.summary["eval/best_step"];
  if (step == null || run.best_checkpoint_step !== null || run.checkpoint_step === null) return "";
  return `No checkpoint was saved at step ${number(step)}, which had the best evaluation.`;
}

function newestKept(run: Run): string {
  const n = run.config["max_checkpoints"];
  if (typeof n !== "number") return "newest checkpoints";
  return n === 1 ? "newest checkpoint" : `newest ${number(n)} checkpoints`;
}

export function CheckpointsTab({ run }: { run: Run }) {
  const checkpoints = useQuery(checkpointsQuery(run.id));
  const artifacts = useQuery(artifactsQuery(run.id));
  const pins = usePins(run.id);
  const mayChange = useMayChange(run.project_id);
  const isOver = run.state === "succeeded";
  return (
    <div className="two">
      <section className="card">
        <h2 className="card-title">Checkpoints</h2>
        <Loaded query={checkpoints}>
          {(items) => (
            <Table
              columns={["Step", "Created", ...(mayChange ? ["Actions"] : [])]}
              items={items}
              empty={
                <Empty icon="file" title="No checkpoints">
                  <Sentence text={noCheckpoints(run)} />
                </Empty>
              }
            >
              {(one) => (
                <tr key={one.step}>
                  <td>
                    <span className="row">
                      <span className="mono">{one.step}</span>
                      {one.is_best && <BestPill run={run} step={one.step} />}
                      {one.is_pinned && <span className="pill">pinned</span>}
                    </span>
                  </td>
                  <td>
                    <Ago at={one.created_at} />
                    {run.attempt > 1 && <div className="small faint">attempt {one.attempt}</div>}
                  </td>
                  {mayChange && (
                    <td>
                      <div className="row">
                        <PendingButton
                          aria-label={`${one.is_pinned ? "Unpin" : "Pin"} step ${one.step}`}
                          isPending={pins.isPending}
                          onPress={() => pins.mutate(one)}
                        >
                          <Icon name="pin" /> {one.is_pinned ? "Unpin" : "Pin"}
                        </PendingButton>
                        <ContinueLink
                          run={run}
                          step={one.step}
                          label={`Continue from step ${one.step}`}
                        >
                          Continue…
                        </ContinueLink>
                      </div>
                    </td>
                  )}
                </tr>
              )}
            </Table>
          )}
        </Loaded>
        <Refused asked={pins} />
        {run.pruned_at === null && (
          <p className="card-title small muted">
            {bestElsewhere(run)} Podium keeps the {newestKept(run)}, the latest checkpoint that was
            the best so far when it was saved, checkpoints that a clone will start from, and pinned
            ones. Pinned checkpoints stay even when an archived run is pruned.
          </p>
        )}
      </section>
      <section className="card">
        <h2 className="card-title">Files</h2>
        {run.output_model_ids.map((id) => (
          <p className="card-title" key={id}>
            <TrainedModel run={run} id={id} />
          </p>
        ))}
        {run.method === "generate" && run.state === "succeeded" && (
          <p className="card-title">
            <Link to={`/projects/${run.project_id}/data/responses?run=${run.id}`}>
              Read the responses
            </Link>
          </p>
        )}
        <Loaded query={artifacts}>
          {(items) => (
            <Table
              columns={[]}
              items={items}
              empty={
                <Empty icon="file" title={isOver ? "No files" : "No files yet"}>
                  {noFiles(run)}
                </Empty>
              }
            >
              {(file) => (
                <tr key={file.path}>
                  <td className="mono">
                    <FileName run={run} path={file.path} />
                  </td>
                  <td className="num">{bytes(file.size_bytes)}</td>
                  <td>
                    <Copyable text={file.sha256} shown={shortHash(file.sha256)} label="sha256" />
                  </td>
                </tr>
              )}
            </Table>
          )}
        </Loaded>
        {artifacts.data?.some((file) => file.path === ANSWERS) === true && (
          <MakeDemonstrations run={run} />
        )}
      </section>
    </div>
  );
}

/** The weights that the run has left, with their step, which need not be the last one. */
function TrainedModel({ run, id }: { run: Run; id: string }) {
  const { data: model } = useQuery(modelQuery(id));
  const step = model?.step == null ? "" : ` (step ${number(model.step)})`;
  return (
    <Link to={`/projects/${run.project_id}/models/${id}`}>{`Open the trained model${step}`}</Link>
  );
}

/** What a run was answered is a file to look into; those of a model are not. */
function FileName({ run, path }: { run: Run; path: string }) {
  if (path !== ANSWERS) return path;
  return (
    <a href={answersAddress(run.id)} download={`${run.name}-${ANSWERS}`}>
      {path}
    </a>
  );
}

function MakeDemonstrations({ run }: { run: Run }) {
  const [isOpen, setIsOpen] = useState(false);
  if (!useMayChange(run.project_id)) return null;
  return (
    <p className="card-title">
      <button type="button" className="btn" onClick={() => setIsOpen(true)}>
        Make demonstrations from the best answers…
      </button>
      {isOpen && <BestAnswersDialog run={run} onClose={() => setIsOpen(false)} />}
    </p>
  );
}
