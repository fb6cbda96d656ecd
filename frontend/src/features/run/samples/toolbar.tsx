/** Which samples are shown, in which order, and what their tokens are shaded by. */
import type { AnsweredSamples, AskedSamples } from "@/api/runs";
import type { Samples } from "@/api/types";
import { Segmented } from "@/components/segmented";
import { useView } from "@/features/run/view";
import { plural } from "@/lib/format";

import { stepShown } from "./reading";
import { shadesOf, shadingOf } from "./shades";

const KINDS = [
  ["rollout", "Trained on"],
  ["probe", "Held-out probes"],
] as const;

export function Toolbar({ data, asked }: { data: AnsweredSamples; asked: AskedSamples }) {
  const { search, set } = useView();
  return (
    <header>
      {data.kinds.length > 1 && (
        <Segmented
          label="Kind"
          value={asked.kind}
          options={KINDS}
          onChange={(kind) =>
            set({ kind: kind === "probe" ? kind : null, step: null, prompt: null })
          }
        />
      )}
      {asked.prompt_id === null && (
        <StepChooser
          steps={data.asked.kind === asked.kind ? data.steps : NONE}
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
      {asked.prompt_id === null && (
        <SortChooser data={data} sort={asked.sort} onSort={(sort) => set({ sort })} />
      )}
      <input
        type="search"
        className="input"
        aria-label="Search prompts and responses"
        placeholder="Search"
        maxLength={200}
        value={asked.q}
        onChange={(event) => set({ q: event.target.value || null })}
      />
      <span className="grow" />
      <span className="small faint">{countText(data.items.length)}</span>
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
  step: number | null;
  onStep: (step: number) => void;
}) {
  const { steps, step: shown, onStep } = props;
  const place = shown === null ? -1 : steps.indexOf(shown);
  const go = (by: number) => {
    const step = steps[place + by];
    if (step !== undefined) onStep(step);
  };
  return (
    <div className="row">
      <button
        type="button"
        className="btn icon"
        aria-label="Earlier step"
        disabled={place <= 0}
        onClick={() => go(-1)}
      >
        ‹
      </button>
      <select
        className="input steps-select"
        aria-label="Step"
        value={shown ?? ""}
        onChange={(event) => onStep(Number(event.target.value))}
      >
        {steps.map((step) => (
          <option key={step} value={step}>
            step {step}
          </option>
        ))}
      </select>
      <button
        type="button"
        className="btn icon"
        aria-label="Later step"
        disabled={place < 0 || place >= steps.length - 1}
        onClick={() => go(1)}
      >
        ›
      </button>
    </div>
  );
}

function SortChooser(props: { data: Samples; sort: string; onSort: (sort: string) => void }) {
  const names = new Set(props.data.items.flatMap((sample) => Object.keys(sample.scores)));
  return (
    <select
      className="input sort-select"
      aria-label="Sort"
      value={props.sort}
      onChange={(event) => props.onSort(event.target.value)}
    >
      <option value="order">in logged order</option>
      {[...names].map((name) => [
        <option key={`-${name}`} value={`-${name}`}>
          highest {name}
        </option>,
        <option key={name} value={name}>
          lowest {name}
        </option>,
      ])}
    </select>
  );
}
