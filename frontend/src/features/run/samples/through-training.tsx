/** The responses to one prompt, step after step, side by side; some of them can be ranked. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Link } from "react-router";

import { rankingsQuery } from "@/api/judgments";
import { sendToRanking } from "@/api/runs";
import type { Run, Sample } from "@/api/types";
import { Difference } from "@/components/response/difference";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { Scores } from "@/components/response/scores";
import { useMayChange } from "@/components/use-may";
import { useView } from "@/features/run/view";
import { number, plural } from "@/lib/format";

import { PromptRankings } from "./prompt-rankings";
import { Known, Passed } from "./known";
import { Marks } from "./sample-row";
import { FoundText } from "./search/found-text";
import type { Shading } from "./shades";
import { Tokens } from "./tokens";

const MOST = 9;

export function ThroughTraining(props: {
  run: Run;
  samples: readonly Sample[];
  shading: Shading;
  /** Why tokens have no numbers, where they have none. */
  unshaded: string;
  /** What somebody searches for; empty = nothing. */
  q: string;
  onAll: () => void;
}) {
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const { search, set } = useView();
  const mayChange = useMayChange(props.run.project_id);
  const { q } = props;
  const [first] = props.samples;
  const base = baseOf(props.samples, search.get("diff"));
  return (
    <div className="through-training">
      <div className="row">
        <button type="button" className="btn small" onClick={props.onAll}>
          ‹ All prompts
        </button>
        <p className="plain muted" dir="auto">
          {first && <FoundText text={first.prompt} q={q} />}
        </p>
        {first && <Known sample={first} />}
      </div>
      <BaseChooser
        run={props.run}
        samples={props.samples}
        base={base}
        onChoose={(step) => set({ diff: step })}
      />
      <ol tabIndex={0} aria-label="Responses by step">
        {props.samples.map((sample) => (
          <li key={sample.number}>
            {mayChange ? (
              <label className="choose">
                <input
                  type="checkbox"
                  checked={chosen.includes(sample.number)}
                  onChange={(event) =>
                    setChosen(
                      event.target.checked
                        ? [...chosen, sample.number]
                        : chosen.filter((one) => one !== sample.number),
                    )
                  }
                />
                step {number(sample.step)}
              </label>
            ) : (
              <span className="choose">step {number(sample.step)}</span>
            )}
            <Marks sample={sample} />
            {base === null || base === sample ? (
              <Tokens sample={sample} shading={props.shading} unshaded={props.unshaded} q={q} />
            ) : (
              <Difference before={base.response} after={sample.response} />
            )}
            <Passed sample={sample} />
            <Scores className="nums" scores={sample.scores} />
          </li>
        ))}
      </ol>
      {mayChange && <Ranking run={props.run} chosen={chosen} onSent={() => setChosen([])} />}
      {first?.prompt_id != null && (
        <PromptRankings
          projectId={props.run.project_id}
          promptId={first.prompt_id}
          samples={props.samples}
        />
      )}
    </div>
  );
}

/** The response that the others are compared with: the first at a step. */
const baseOf = (samples: readonly Sample[], step: string | null): Sample | null =>
  samples.find((sample) => String(sample.step) === step) ?? null;

/** What a held-out prompt was answered before any update is what the reference answers. */
function stepName(run: Run, { kind, step }: Sample): string {
  if (kind !== "probe" || step !== 0 || run.parent_step != null) return `step ${number(step)}`;
  return run.config["reference"] == null ? "step 0, the reference’s answer" : "step 0, untrained";
}

function BaseChooser(props: {
  run: Run;
  samples: readonly Sample[];
  base: Sample | null;
  onChoose: (step: string | null) => void;
}) {
  const id = useId();
  const { samples } = props;
  const firsts = samples.filter(
    (one, place) => samples.findIndex(({ step }) => step === one.step) === place,
  );
  if (samples.length < 2) return null;
  return (
    <div className="row">
      <label htmlFor={id} className="small">
        Differences from
      </label>
      <select
        id={id}
        className="input"
        value={props.base?.step ?? ""}
        onChange={(event) => props.onChoose(event.target.value || null)}
      >
        <option value="">nothing, whole responses</option>
        {firsts.map((one) => (
          <option key={one.step} value={one.step}>
            {stepName(props.run, one)}
          </option>
        ))}
      </select>
    </div>
  );
}

function Ranking(props: { run: Run; chosen: readonly number[]; onSent: () => void }) {
  const { run, chosen } = props;
  const client = useQueryClient();
  const sent = useMutation({
    mutationFn: (numbers: readonly number[]) => sendToRanking(run.id, numbers),
    onSuccess: async ({ prompt_id }) => {
      props.onSent();
      await client.invalidateQueries({
        queryKey: rankingsQuery(run.project_id, prompt_id).queryKey,
      });
    },
  });
  const canBeSent = chosen.length >= 2 && chosen.length <= MOST;
  return (
    <div className="row ranking">
      {canBeSent ? (
        <PendingButton isPending={sent.isPending} onPress={() => sent.mutate(chosen)}>
          Put {plural(chosen.length, "response")} up for ranking
        </PendingButton>
      ) : (
        <span className="small faint">
          Choose 2 to {MOST} responses to put them up for ranking.
        </span>
      )}
      {sent.data !== undefined && chosen.length === 0 && (
        <span className="small" role="status">
          {plural(sent.data.response_ids.length, "response")} wait to be ranked.{" "}
          <Link to={`/projects/${run.project_id}/rank`}>Rank</Link>
        </span>
      )}
      <Refused asked={sent} />
    </div>
  );
}
