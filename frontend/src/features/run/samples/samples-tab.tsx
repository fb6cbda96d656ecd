/** What the policy really says: samples of one step, or of one prompt through training. */
import "./samples.css";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { isOfNewest, samplesQuery, type AnsweredSamples, type AskedSamples } from "@/api/runs";
import type { Run } from "@/api/types";
import { Icon } from "@/components/icons";
import { Empty, Loaded, Skeleton } from "@/components/states";
import { Sentence } from "@/components/text/sentence";
import { useView } from "@/features/run/view";
import { number } from "@/lib/format";

import { isSampler, mayMoveOn } from "../run-status";
import { heldAfter, insteadOf, isAnswerTo, newerThan, type Held } from "./reading";
import { rewardOfAll, SampleRow } from "./sample-row";
import {
  MEANINGS,
  noneShadedBecause,
  shadingOf,
  underlineMeaning,
  unshadedBecause,
  type Shading,
} from "./shades";
import { ThroughTraining } from "./through-training";
import { Toolbar } from "./toolbar";

function askedOf(search: URLSearchParams): AskedSamples {
  const [step, prompt, q] = [search.get("step"), search.get("prompt"), search.get("q") ?? ""];
  const isOfEvery = q !== "" && prompt === null && search.get("in") === "run";
  return {
    kind: search.get("kind") === "probe" ? "probe" : "rollout",
    step: step === null || isOfEvery ? null : Number(step),
    prompt_id: prompt,
    q,
    every_step: isOfEvery,
    sort: search.get("sort") ?? "order",
  };
}

/** What the colours say, and at which number they are full; or why there is none. */
function Legend({ shading, unshaded }: { shading: Shading; unshaded: string }) {
  if (unshaded !== "")
    return (
      <p className="small faint legend">
        <Sentence text={unshaded} />
      </p>
    );
  if (shading.shade === "none") return null;
  return (
    <p className="small faint legend">
      {MEANINGS[shading.shade]}
      {shading.scale > 0 && ` Values of ±${number(shading.scale)} and beyond have the full colour.`}
      {shading.scale > 0 && (
        <span className="of-few-colours"> {underlineMeaning(shading.shade)}</span>
      )}
    </p>
  );
}

export function SamplesTab({ run }: { run: Run }) {
  const { search } = useView();
  const [held, setHeld] = useState<Held | null>(null);
  const wanted = askedOf(search);
  const isHeld = isOfNewest(wanted) && held?.kind === wanted.kind;
  const asked = isHeld ? { ...wanted, step: held.step } : wanted;
  const query = useQuery(samplesQuery(run.id, asked));
  const next = query.isPlaceholderData ? held : heldAfter(held, asked, query.data);
  if (next !== held) setHeld(next);
  return (
    <Loaded query={query} lines={8}>
      {(data) =>
        data.kinds.length === 0 ? (
          <NoSamples run={run} />
        ) : (
          <section className="card samples" aria-busy={query.isPlaceholderData}>
            <Toolbar data={data} asked={asked} />
            {isHeld && (
              <Newer
                step={newerThan(held, data)}
                onShow={(step) => setHeld({ kind: held.kind, step })}
              />
            )}
            <Instead answer={data} />
            <Legend
              shading={shadingOf(data, search.get("shade"))}
              unshaded={noneShadedBecause(run, data.items)}
            />
            {query.isPlaceholderData && !isAnswerTo(data, asked) ? (
              <Skeleton label="Loading the samples" lines={8} />
            ) : (
              <Found data={data} asked={asked} run={run} />
            )}
          </section>
        )
      }
    </Loaded>
  );
}

/** What was logged while somebody reads comes when they ask for it. */
function Newer({ step, onShow }: { step: number | null; onShow: (step: number) => void }) {
  return (
    <div className={step === null ? "" : "note newer"}>
      {step !== null && <Icon name="note" />}
      {/* Said once, however many steps follow. */}
      <span className="grow" role="status">
        {step !== null && "These are no longer the newest samples."}
      </span>
      {step !== null && (
        <button type="button" className="btn" onClick={() => onShow(step)}>
          Show step {number(step)}
        </button>
      )}
    </div>
  );
}

/** A chart has more steps than those of which samples are logged. */
function Instead({ answer }: { answer: AnsweredSamples }) {
  const said = answer.items.length === 0 ? null : insteadOf(answer);
  return (
    <div className={said === null ? "" : "note instead"}>
      {said !== null && <Icon name="note" />}
      <span className="grow" role="status">
        {said}
      </span>
    </div>
  );
}

function NoSamples({ run }: { run: Run }) {
  return (
    <section className="card">
      <Empty icon="note" title="No samples">
        {run.logs_samples ? (
          <>
            {noneBecause(run)} The section <code>log</code> of its config sets how many it logs.
          </>
        ) : (
          "Runs of this method sample no responses, so they log none."
        )}
      </Empty>
    </section>
  );
}

function noneBecause(run: Run): string {
  if (!mayMoveOn(run.state)) return "This run has logged no response.";
  return isSampler(run)
    ? "This run logs its samples when it has finished."
    : "This run has logged no response so far.";
}

/** The other kind was not searched. */
function searched({ kind, kinds }: AnsweredSamples): string {
  if (kinds.length < 2) return "sample";
  return kind === "probe" ? "held-out probe" : "trained-on sample";
}

function whyNone(answer: AnsweredSamples, asked: AskedSamples): string {
  if (asked.every_step) return `No ${searched(answer)} at any step contains “${asked.q}”.`;
  if (asked.q !== "") return `No sample here contains “${asked.q}”.`;
  if (asked.prompt_id !== null)
    return "No response to this prompt was logged. The section “log” of the config sets how many responses are logged.";
  return `No samples were logged at step ${number(answer.step)}. Choose another step.`;
}

function Found({ data, asked, run }: { data: AnsweredSamples; asked: AskedSamples; run: Run }) {
  const { search, set } = useView();
  const shading = shadingOf(data, search.get("shade"));
  if (data.items.length === 0)
    return (
      <div className="note">
        <Icon name="note" /> <span className="grow">{whyNone(data, asked)}</span>
        {asked.prompt_id !== null && (
          <button type="button" className="btn" onClick={() => set({ prompt: null })}>
            All prompts
          </button>
        )}
      </div>
    );
  if (asked.prompt_id !== null) {
    const onAll = () => set({ prompt: null });
    return (
      <ThroughTraining
        key={asked.prompt_id}
        run={run}
        samples={data.items}
        shading={shading}
        unshaded={unshadedBecause(run)}
        q={data.asked.q}
        onAll={onAll}
      />
    );
  }
  const onPrompt = (id: string) => set({ prompt: id, step: null });
  const onStep = (step: number) => set({ step: String(step), in: null });
  const flat = rewardOfAll(data.items);
  return (
    <>
      {flat !== null && (
        <p className="small muted legend">Every sample here has reward {number(flat)}.</p>
      )}
      <ol>
        {data.items.map((sample) => (
          <SampleRow
            key={sample.number}
            sample={sample}
            isFlat={flat !== null}
            shading={shading}
            unshaded={unshadedBecause(run)}
            q={data.asked.q}
            onPrompt={onPrompt}
            isTraining={!isSampler(run)}
            onStep={asked.every_step ? onStep : null}
          />
        ))}
      </ol>
    </>
  );
}
