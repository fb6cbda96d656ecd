/** What is frozen: the kind, whose judgments, what becomes of several, and how they are split. */
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";

import { judgmentCountsQuery } from "@/api/judgments";
import { freezeSnapshot, projectQuery, promptCountsQuery } from "@/api/projects";
import type { Aggregation, JudgmentCounts } from "@/api/types";
import { CreateForm, NameField } from "@/components/form/create-form";
import { HeldOutField } from "@/components/form/held-out-field";
import { Icon } from "@/components/icons";
import { Segmented } from "@/components/segmented";
import { Failed } from "@/components/states";
import { plural } from "@/lib/format";

import { chosenTaken, filterOf, isEvery, nChosen, type Chosen } from "./chosen-prompts";
import { PromptChooser } from "./prompt-chooser";
import {
  choicesOf,
  countUnder,
  firstWithAny,
  judgmentsTaken,
  recordsTaken,
  WITHOUT,
  type Kind,
} from "./taken";

const KINDS: readonly (readonly [Kind, string])[] = [
  ["prompts", "Prompts"],
  ["demonstrations", "Demonstrations"],
  ["preferences", "Preferences"],
  ["solutions", "Solutions"],
];

export const isKind = (text: string | null): text is Kind => KINDS.some(([kind]) => kind === text);

/** What becomes of several judgments of one comparison; docs/data.md says how. */
const AGGREGATIONS: Record<Aggregation, string> = {
  none: "Keep every judgment",
  ranked_pairs: "One ranking, by ranked pairs",
  bradley_terry: "One ranking, by Bradley-Terry strengths",
  crowd_bradley_terry: "One ranking, reliable annotators count more (Crowd-BT)",
};

/**
 * What the snapshot would take; `sentence` is null until it is known, `isNone` if that is nothing.
 * Without the counts nobody knows the criterion, and the judgments of another one would be frozen.
 */
function useTaken(projectId: string, kind: Kind, chosen: string | null) {
  const asked = useQuery({
    ...judgmentCountsQuery(projectId),
    staleTime: 0,
    enabled: kind === "preferences",
  });
  const project = useQuery(projectQuery(projectId)).data;
  const counts = asked.data;
  const criterion = chosen ?? (counts === undefined ? null : firstWithAny(counts));
  if (kind !== "preferences")
    return {
      asked,
      counts: undefined,
      criterion: null,
      isKnown: true,
      isNone: project?.counts?.[kind] === 0,
      sentence: project === undefined ? null : recordsTaken(kind, project.counts),
    };
  return {
    asked,
    counts,
    criterion,
    isKnown: counts !== undefined,
    isNone: counts !== undefined && countUnder(counts, criterion ?? WITHOUT) === 0,
    sentence: counts === undefined ? null : judgmentsTaken(counts, criterion ?? WITHOUT),
  };
}

const waitingFor = (error: Error | null) =>
  error === null ? "Counting the judgments…" : "What the snapshot would take is not known.";

export function FreezeDialog(props: {
  projectId: string;
  kind: Kind;
  only: Chosen;
  onClose: () => void;
}) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState(props.kind);
  const [percent, setPercent] = useState("10");
  const [seed, setSeed] = useState("0");
  const [aggregation, setAggregation] = useState<Aggregation>("none");
  const [chosen, setCriterion] = useState<string | null>(null);
  const [only, setOnly] = useState(props.only);
  const id = useId();
  const taken = useTaken(props.projectId, kind, chosen);
  const prompts = useQuery({ ...promptCountsQuery(props.projectId), staleTime: 0 });
  // Of some prompts nobody has counted the records.
  const sentence = isEvery(only) ? taken.sentence : chosenTaken(kind, prompts.data, only);
  const said = sentence ?? (taken.isKnown ? "" : waitingFor(taken.asked.error));
  const isNone = taken.isNone || (prompts.data !== undefined && nChosen(prompts.data, only) === 0);
  const { counts, criterion } = taken;
  const freeze = () =>
    freezeSnapshot(props.projectId, {
      name: name.trim(),
      kind,
      heldout_fraction: Number(percent) / 100,
      seed: Number(seed),
      aggregation: kind === "preferences" ? aggregation : "none",
      criterion,
      filter: filterOf(only),
    });
  return (
    <CreateForm
      notDone="The snapshot was not frozen."
      create={freeze}
      list={["project", props.projectId, "snapshots"]}
      verb={
        <>
          <Icon name="lock" /> Freeze
        </>
      }
      isComplete={name.trim() !== "" && taken.isKnown && !isNone}
      dialog={{ title: "Freeze a snapshot", onClose: props.onClose }}
    >
      <p className="muted" role="status">
        {said} Later changes to the data do not change the snapshot.
      </p>
      {kind === "preferences" && <Failed query={taken.asked} what="The counts of the judgments" />}
      <Segmented label="Kind" value={kind} options={KINDS} onChange={setKind} />
      <NameField value={name} onChange={setName} />
      <Failed query={prompts} what="The counts of the prompts" />
      {prompts.data !== undefined && (
        <PromptChooser counted={prompts.data} chosen={only} onChange={setOnly} />
      )}
      {counts !== undefined && (
        <CriterionField counts={counts} value={criterion ?? WITHOUT} onChange={setCriterion} />
      )}
      {kind === "preferences" && <AggregationField value={aggregation} onChange={setAggregation} />}
      <div className="pair">
        <HeldOutField
          hint="All records of a prompt go to the same split."
          value={percent}
          onChange={setPercent}
        />
        <div className="field">
          <label htmlFor={id}>Split seed</label>
          <input
            id={id}
            className="input"
            type="number"
            min={0}
            value={seed}
            onChange={(event) => setSeed(event.target.value)}
          />
        </div>
      </div>
    </CreateForm>
  );
}

/** Criteria that the project no longer has can be chosen, too, as long as judgments have them. */
function CriterionField(props: {
  counts: JudgmentCounts;
  value: string;
  onChange: (criterion: string) => void;
}) {
  const id = useId();
  const choices = choicesOf(props.counts);
  if (choices.length === 0) return null;
  return (
    <div className="field">
      <label htmlFor={id}>Criterion</label>
      <select
        id={id}
        className="input"
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
      >
        {choices.map(({ criterion, judgments }) => (
          <option key={criterion} value={criterion} disabled={judgments === 0}>
            {criterion === WITHOUT ? "judged without criteria" : criterion}:{" "}
            {judgments === 0 ? "no judgments" : plural(judgments, "judgment")}
          </option>
        ))}
      </select>
    </div>
  );
}

function AggregationField(props: { value: Aggregation; onChange: (way: Aggregation) => void }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>Several judgments of one comparison</label>
      <select
        id={id}
        className="input"
        value={props.value}
        onChange={(event) => props.onChange(event.target.value as Aggregation)}
      >
        {Object.entries(AGGREGATIONS).map(([way, label]) => (
          <option key={way} value={way}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}
