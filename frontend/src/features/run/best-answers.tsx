/** What a run answered, frozen as demonstrations: the best of each prompt, by score. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { freezeSnapshot } from "@/api/projects";
import { answersCountQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { CreateForm, NameField } from "@/components/form/create-form";
import { Field } from "@/components/form/field";
import { HeldOutField } from "@/components/form/held-out-field";
import { useSettled } from "@/components/form/use-settled";
import { Icon } from "@/components/icons";
import { termNames } from "@/components/metrics/reward-terms";
import { Failed } from "@/components/states";
import { useGo } from "@/lib/address/use-go";

import { keptText, numberOf, ruleOf } from "./kept-answers";

/** How many answers the rule keeps; what it kept a moment ago stays until the next count is there. */
function useKept(run: Run, rule: Parameters<typeof ruleOf>[0]) {
  const text = ruleOf(rule);
  const settled = useSettled(text);
  const query = useQuery({
    ...answersCountQuery(run.id, settled),
    placeholderData: (previous) => previous,
  });
  const isCurrent = settled === text && !query.isPlaceholderData;
  return { query, count: query.data, isCurrent };
}

export function BestAnswersDialog({ run, onClose }: { run: Run; onClose: () => void }) {
  const go = useGo();
  const terms = termNames(run.config);
  const [name, setName] = useState(`Best answers of ${run.name}`.slice(0, 200));
  const [best, setBest] = useState(terms.length > 0 ? "1" : "");
  const [term, setTerm] = useState("");
  const [least, setLeast] = useState("");
  const [passed, setPassed] = useState(false);
  const [percent, setPercent] = useState("10");
  const rule = {
    best: numberOf(best),
    min_score: numberOf(least),
    passed,
    term: term === "" ? null : term,
  };
  const { query, count, isCurrent } = useKept(run, rule);
  const freeze = () =>
    freezeSnapshot(run.project_id, {
      name: name.trim(),
      kind: "demonstrations",
      heldout_fraction: Number(percent) / 100,
      seed: 0,
      aggregation: "none",
      filter: { answers: { run_id: run.id, ...rule } },
    });
  return (
    <CreateForm
      notDone="The demonstrations were not made."
      create={freeze}
      list={["project", run.project_id, "snapshots"]}
      onMade={() => go(`/projects/${run.project_id}/data/snapshots`)}
      verb={
        <>
          <Icon name="lock" /> Freeze
        </>
      }
      isComplete={name.trim() !== "" && !(isCurrent && count?.answers === 0)}
      dialog={{ title: "Make demonstrations from the best answers", onClose }}
    >
      <p className="muted">
        The answers that are kept become a snapshot of demonstrations, which an SFT run trains on.
        Identical answers to a prompt are kept once.
      </p>
      <p role="status">{keptText(query.error === null ? count : null, isCurrent)}</p>
      <Failed query={query} what="The count of the answers" />
      <NameField value={name} onChange={setName} />
      <Field
        label="Best of each prompt"
        hint="Leave it empty to keep every response that meets the other rules."
      >
        {(control) => (
          <input
            {...control}
            className="input"
            type="number"
            min={1}
            max={1000}
            value={best}
            disabled={terms.length === 0}
            onChange={(event) => setBest(event.target.value)}
          />
        )}
      </Field>
      <Field label="Score">
        {(control) => (
          <select
            {...control}
            className="input"
            value={term}
            disabled={terms.length === 0}
            onChange={(event) => setTerm(event.target.value)}
          >
            <option value="">
              {terms.length === 0 ? "no reward terms" : "weighted sum of all terms"}
            </option>
            {terms.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Lowest score" hint="Empty: no limit.">
        {(control) => (
          <input
            {...control}
            className="input"
            type="number"
            step="any"
            value={least}
            disabled={terms.length === 0}
            onChange={(event) => setLeast(event.target.value)}
          />
        )}
      </Field>
      <HeldOutField
        hint="All answers to a prompt go to the same split."
        value={percent}
        onChange={setPercent}
      />
      {(count?.is_judged !== false || passed) && (
        <label className="row small">
          <input
            type="checkbox"
            checked={passed}
            onChange={(event) => setPassed(event.target.checked)}
          />{" "}
          Only answers that passed
        </label>
      )}
    </CreateForm>
  );
}
