/** One sample: its prompt, what it stands for, its response and its scores. */
import type { Sample } from "@/api/types";
import { Scores } from "@/components/response/scores";
import { PlainText } from "@/components/text/plain-text";

import { Known, Passed } from "./known";
import type { Shading } from "./shades";
import { Tokens } from "./tokens";

const REASONS: Record<Sample["chosen_for"][number], string> = {
  best: "highest reward",
  worst: "lowest reward",
  median: "median reward",
  longest: "longest",
  truncated: "cut by the token limit",
  largest_kl: "largest KL",
  zero_variance: "its group has one reward",
};

function marksOf(sample: Sample): string[] {
  const marks = sample.chosen_for.map((reason) => REASONS[reason]);
  const isCut = sample.finish_reason === "length" && !marks.includes(REASONS.truncated);
  return isCut ? [...marks, REASONS.truncated] : marks;
}

export function Marks({ sample }: { sample: Sample }) {
  const marks = marksOf(sample);
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
  shading: Shading;
  unshaded: string;
  onPrompt: (promptId: string) => void;
}) {
  const { sample, onPrompt } = props;
  const promptId = sample.prompt_id;
  return (
    <li className="sample">
      <div>
        <p className="plain muted" dir="auto">
          <PlainText text={sample.prompt} />
        </p>
        <Known sample={sample} />
        {promptId !== null && (
          <button type="button" className="btn small" onClick={() => onPrompt(promptId)}>
            Through training
          </button>
        )}
      </div>
      <div>
        <Marks sample={sample} />
        <Passed sample={sample} />
        <Tokens sample={sample} shading={props.shading} />
        {sample.tokens === null && props.unshaded !== "" && (
          <p className="small faint">{props.unshaded}</p>
        )}
      </div>
      <Scores className="nums" scores={sample.scores} />
    </li>
  );
}
