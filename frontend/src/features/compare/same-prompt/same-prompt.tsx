/**
 * What the compared runs respond to one prompt: a column for each group, each at its newest step up
 * to the chosen one.
 */
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";

import { promptSamplesQuery, sharedPromptsQuery } from "@/api/shared-prompts";
import type { PromptSamples, Run, SeedGroups, SharedPrompt } from "@/api/types";
import { Icon } from "@/components/icons";
import { letterOf } from "@/components/seed-groups/group-names";
import { Empty, Loaded } from "@/components/states";
import { PlainText } from "@/components/text/plain-text";
import { useView } from "@/features/compare/view";
import { number, plural } from "@/lib/format";

import { PromptColumn } from "./prompt-column";
import { allSteps, chosenInstead, MOST_COLUMNS, shownRuns, type ShownRun } from "./shown-runs";

/** Where links of the page lead. */
export const SAME_PROMPT_ID = "same-prompt";

const SHORT = 90;

interface Shared {
  readonly answer: SeedGroups;
  readonly runs: ReadonlyMap<string, Run>;
}

const wordsOf = ({ text, runs }: SharedPrompt) => {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const shown = line.length > SHORT ? `${line.slice(0, SHORT)}…` : line;
  return `${shown} (${plural(runs, "run")})`;
};

function PromptChooser(props: { prompts: readonly SharedPrompt[]; prompt: string }) {
  const { prompts, prompt } = props;
  const { set } = useView();
  const id = useId();
  const place = prompts.findIndex((one) => one.prompt_id === prompt);
  const go = (by: number) => set({ prompt: prompts[place + by]?.prompt_id ?? prompt });
  return (
    <div className="row grow prompt-chooser">
      <label htmlFor={id}>Prompt</label>
      <button
        type="button"
        className="btn icon"
        aria-label="Previous prompt"
        disabled={place <= 0}
        onClick={() => go(-1)}
      >
        <Icon name="left" />
      </button>
      <select
        id={id}
        className="input"
        value={prompt}
        onChange={(event) => set({ prompt: event.target.value })}
      >
        {prompts.map((one) => (
          <option key={one.prompt_id} value={one.prompt_id}>
            {wordsOf(one)}
          </option>
        ))}
      </select>
      <button
        type="button"
        className="btn icon"
        aria-label="Next prompt"
        disabled={place >= prompts.length - 1}
        onClick={() => go(1)}
      >
        <Icon name="right" />
      </button>
    </div>
  );
}

function StepChooser({ found }: { found: PromptSamples }) {
  const { upTo, set } = useView();
  const id = useId();
  const steps = allSteps(found.items);
  // A step of the curves may have no samples: then the newest before it are shown.
  const options = upTo === null || steps.includes(upTo) ? steps : [...steps, upTo];
  return (
    <div className="row">
      <label htmlFor={id}>Step</label>
      <select
        id={id}
        className="input"
        value={upTo ?? ""}
        onChange={(event) => set({ at: event.target.value })}
      >
        <option value="">the newest of each</option>
        {[...options]
          .sort((a, b) => a - b)
          .map((step) => (
            <option key={step} value={step}>
              {number(step)} or before
            </option>
          ))}
      </select>
    </div>
  );
}

function BaseChooser({ shown }: { shown: readonly ShownRun[] }) {
  const { base, set } = useView();
  const id = useId();
  if (shown.length < 2) return null;
  return (
    <div className="row">
      <label htmlFor={id}>Differences from</label>
      <select
        id={id}
        className="input"
        value={base ?? ""}
        onChange={(event) => set({ diff: event.target.value })}
      >
        <option value="">nothing, whole responses</option>
        {shown.map(({ group }) => (
          <option key={group} value={letterOf(group)}>
            {letterOf(group)}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The responses of the column that the others are compared with; null = there is none. */
function baseOf(found: PromptSamples, shown: readonly ShownRun[], letter: string | null) {
  const run = shown.find(({ group }) => letterOf(group) === letter)?.run;
  const responses = found.items.find((one) => one.run === run)?.items ?? [];
  return responses.length === 0 ? null : responses.map(({ response }) => response);
}

function Columns({ answer, runs, prompt }: Shared & { prompt: string }) {
  const { hidden, columns, upTo, base, set } = useView();
  const shown = shownRuns(answer.groups, columns, hidden);
  const ids = shown.map(({ run }) => run);
  const query = useQuery({
    ...promptSamplesQuery(ids, prompt, upTo),
    enabled: ids.length > 0,
  });
  if (shown.length === 0) return <p className="muted padded">All runs are hidden.</p>;
  return (
    <Loaded query={query} lines={6}>
      {(found) => {
        const texts = found.items.flatMap((one) => one.prompt ?? []);
        return (
          <>
            <div className="row padded">
              <StepChooser found={found} />
              <BaseChooser shown={shown} />
              {answer.groups.length > MOST_COLUMNS && (
                <span className="small muted">The first {MOST_COLUMNS} groups are shown.</span>
              )}
            </div>
            {texts[0] !== undefined && (
              <div className="asked">
                <p className="plain" dir="auto">
                  <PlainText text={texts[0]} />
                </p>
                {texts.some((text) => text !== texts[0]) && (
                  <p className="small leaked">
                    The runs logged this prompt with different texts; that of the first is shown.
                  </p>
                )}
              </div>
            )}
            <div className="prompt-columns" tabIndex={0} role="group" aria-label="Responses">
              {shown.map((one) => (
                <PromptColumn
                  key={one.group}
                  shown={one}
                  prompt={prompt}
                  choices={(answer.groups[one.group]?.runs ?? []).filter((run) => !hidden.has(run))}
                  runs={runs}
                  found={found.items.find(({ run }) => run === one.run)}
                  base={letterOf(one.group) === base ? null : baseOf(found, shown, base)}
                  onChoose={(run) =>
                    set({ columns: chosenInstead(answer.groups, columns, { ...one, run }) })
                  }
                />
              ))}
            </div>
          </>
        );
      }}
    </Loaded>
  );
}

export function SamePrompt(props: Shared) {
  const { runIds } = useView();
  const query = useQuery(sharedPromptsQuery(runIds));
  return (
    <section className="card same-prompt" id={SAME_PROMPT_ID} aria-label="The same prompt">
      <h2 className="card-title">The same prompt</h2>
      <Loaded query={query} lines={6}>
        {({ items }) =>
          items[0] === undefined ? (
            <Empty icon="note" title="No prompt has logged samples">
              Runs that sample log some of their responses with the id of the prompt. The section{" "}
              <code>log</code> of the config sets how many.
            </Empty>
          ) : (
            <OnePrompt key={runIds.join()} {...props} prompts={items} newest={items[0].prompt_id} />
          )
        }
      </Loaded>
    </section>
  );
}

function OnePrompt(props: Shared & { prompts: readonly SharedPrompt[]; newest: string }) {
  const { prompts, newest, ...shared } = props;
  // Samples that come put other prompts first: what somebody reads stays.
  const [first] = useState(newest);
  // An address may name a prompt beyond those that are listed.
  const id = useView().prompt ?? first;
  return (
    <>
      <div className="row padded">
        <PromptChooser prompts={prompts} prompt={id} />
      </div>
      <Columns {...shared} prompt={id} />
    </>
  );
}
