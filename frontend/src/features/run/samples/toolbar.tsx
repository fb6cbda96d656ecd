/** Which samples are shown, in which order, and what their tokens are shaded by. */
import { useCallback, useState } from "react";

import type { AnsweredSamples, AskedSamples } from "@/api/runs";
import { Segmented } from "@/components/segmented";
import { useView } from "@/features/run/view";
import { number, plural } from "@/lib/format";

import { choicesAround, MOST_CHOICES, neighbour, stepShown } from "./reading";
import { SearchField } from "./search/search-field";
import { shadesOf, shadingOf } from "./shades";
import { SortChooser } from "./sort-chooser";

const KINDS = [
  ["rollout", "Trained on"],
  ["probe", "Held-out probes"],
] as const;

export function Toolbar({ data, asked }: { data: AnsweredSamples; asked: AskedSamples }) {
  const { search, set } = useView();
  // The next search begins with the step that is shown.
  const onSearch = useCallback((q: string) => set(q === "" ? { q: null, in: null } : { q }), [set]);
  const isOfAStep = asked.prompt_id === null && !asked.every_step;
  return (
    <header>
      {data.kinds.length > 1 && (
        <Segmented
          label="Kind"
          value={asked.kind}
          options={KINDS}
          // The step stays: that of the other kind that is nearest to it is shown.
          onChange={(kind) => set({ kind: kind === "probe" ? kind : null, prompt: null })}
        />
      )}
      {isOfAStep && (
        <StepChooser
          steps={data.asked.kind === asked.kind ? data.steps : NONE}
          hasEarlier={data.asked.kind === asked.kind && data.has_earlier_steps}
          step={stepShown(data, asked)}
          onStep={(next) => set({ step: String(next) })}
        />
      )}
      <Segmented
        label="Shade tokens by"
        value={shadingOf(data, search.get("shade")).shade}
        options={shadesOf(data.items)}
        onChange={(shade) => set({ shade })}
      />
      {isOfAStep && (
        <SortChooser samples={data.items} sort={asked.sort} onSort={(sort) => set({ sort })} />
      )}
      <SearchField q={asked.q} onSearch={onSearch} />
      {asked.prompt_id === null && asked.q !== "" && (
        <label className="row small">
          <input
            type="checkbox"
            checked={asked.every_step}
            onChange={(event) => set({ in: event.target.checked ? "run" : null })}
          />
          in all steps
        </label>
      )}
      <span className="grow" />
      <span className="small faint">{countText(data.items.length)}</span>
      {isOfAStep && data.asked.kind === asked.kind && data.has_earlier_steps && (
        <p className="small muted earlier-steps">
          The list and the arrows reach back to step {number(data.steps[0] ?? 0)}. This run has
          samples of earlier steps, too: enter the number of one to read it.
        </p>
      )}
    </header>
  );
}

const NONE: readonly number[] = [];

/** Of one answer; there may be more of them. */
const MOST_ANSWERED = 200;

const countText = (n: number): string =>
  n < MOST_ANSWERED ? plural(n, "sample") : `${n} samples, and there may be more`;

function StepChooser(props: {
  steps: readonly number[];
  hasEarlier: boolean;
  step: number | null;
  onStep: (step: number) => void;
}) {
  const { steps, hasEarlier, step: shown, onStep } = props;
  // Between it and the first of the list there may be steps that are not listed.
  const isBefore = hasEarlier && shown !== null && shown < (steps[0] ?? 0);
  return (
    <div className="row">
      <Neighbour step={neighbour(steps, shown, "earlier")} name="Earlier step" onStep={onStep}>
        ‹
      </Neighbour>
      <select
        className="input steps-select"
        aria-label="Step"
        value={shown ?? ""}
        onChange={(event) => onStep(Number(event.target.value))}
      >
        {choicesAround(steps, shown).map((step) => (
          <option key={step} value={step}>
            step {step}
          </option>
        ))}
      </select>
      <Neighbour
        step={isBefore ? null : neighbour(steps, shown, "later")}
        name="Later step"
        onStep={onStep}
      >
        ›
      </Neighbour>
      {(hasEarlier || steps.length > MOST_CHOICES) && <StepByNumber onStep={onStep} />}
    </div>
  );
}

function Neighbour(props: {
  step: number | null;
  name: string;
  onStep: (step: number) => void;
  children: string;
}) {
  const { step, name, onStep, children } = props;
  return (
    <button
      type="button"
      className="btn icon"
      aria-label={name}
      disabled={step === null}
      onClick={() => step !== null && onStep(step)}
    >
      {children}
    </button>
  );
}

/** For runs with more steps than a list can show. */
function StepByNumber({ onStep }: { onStep: (step: number) => void }) {
  const [typed, setTyped] = useState("");
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed !== "") onStep(Number(typed));
      }}
    >
      <input
        type="number"
        className="input step-number"
        aria-label="Step number"
        placeholder="Any step"
        title="The list has the steps around this one. Enter the number of any other step."
        min={0}
        max={Number.MAX_SAFE_INTEGER}
        step={1}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <button type="submit" className="btn">
        Show
      </button>
    </form>
  );
}
