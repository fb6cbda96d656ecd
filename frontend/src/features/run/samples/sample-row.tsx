/** One sample: its prompt, what it stands for, its response and its scores. */
import type { Sample } from "@/api/types";
import { Scores } from "@/components/response/scores";
import { number } from "@/lib/format";

import { Known, Passed } from "./known";
import { FoundText } from "./search/found-text";
import type { Shading } from "./shades";
import { Tokens } from "./tokens";

const REASONS: Record<Sample["chosen_for"][number], string> = {
  best: "highest reward",
  worst: "lowest reward",
  median: "median reward",
  longest: "longest",
  truncated: "cut by the token limit",
  largest_kl: "largest KL",
  zero_variance: "example of a prompt with equal rewards",
};

/** What an example cannot be of where all have one reward. */
const OF_A_REWARD: ReadonlySet<string> = new Set(["best", "worst", "median"]);

/** The reward of several samples if they all have the same; null if not, or if one has none. */
export function rewardOfAll(samples: readonly Sample[]): number | null {
  const first = samples[0]?.scores["reward"] ?? null;
  const isOne = samples.every(({ scores }) => scores["reward"] === first);
  return samples.length > 1 && isOne ? first : null;
}

function marksOf(sample: Sample, isFlat: boolean): string[] {
  const marks = sample.chosen_for
    .filter((reason) => !isFlat || !OF_A_REWARD.has(reason))
    .map((reason) => REASONS[reason]);
  const isCut = sample.finish_reason === "length" && !marks.includes(REASONS.truncated);
  return isCut ? [...marks, REASONS.truncated] : marks;
}

export function Marks({ sample, isFlat = false }: { sample: Sample; isFlat?: boolean }) {
  const marks = marksOf(sample, isFlat);
  return (
    marks.length > 0 && (
      <ul className="marks" aria-label="What it is an example of">
        {marks.map((mark) => (
          <li key={mark} className="tag">
            {mark}
          </li>
        ))}
      </ul>
    )
  );
}

/** `unshaded`: why tokens have no numbers, where they have none. */
export function SampleRow(props: {
  sample: Sample;
  /** Whether all samples beside it have its reward. */
  isFlat: boolean;
  shading: Shading;
  unshaded: string;
  /** What somebody searches for; empty = nothing. */
  q: string;
  onPrompt: (promptId: string) => void;
  /** Whether the run trains, so that there are responses to the prompt of other steps. */
  isTraining: boolean;
  /** What opens the step of the sample, where samples of several stand in one list. */
  onStep: ((step: number) => void) | null;
}) {
  const { sample, q, onPrompt, onStep } = props;
  const promptId = sample.prompt_id;
  return (
    <li className="sample">
      <div>
        <p className="plain muted" dir="auto">
          <FoundText text={sample.prompt} q={q} />
        </p>
        <Known sample={sample} />
        {onStep !== null && (
          <button type="button" className="btn small" onClick={() => onStep(sample.step)}>
            Step {number(sample.step)}
          </button>
        )}
        {promptId !== null && (
          <button type="button" className="btn small" onClick={() => onPrompt(promptId)}>
            {props.isTraining ? "Through training" : "Only this prompt"}
          </button>
        )}
      </div>
      <div>
        <Marks sample={sample} isFlat={props.isFlat} />
        <Passed sample={sample} />
        <Tokens sample={sample} shading={props.shading} unshaded={props.unshaded} q={q} />
      </div>
      <Scores className="nums" scores={sample.scores} />
    </li>
  );
}
