/** What one run of a group responds, with its scores; another run of the group can stand instead. */
import { Link } from "react-router";

import type { PromptSample, Run, RunPromptSamples } from "@/api/types";
import { Difference } from "@/components/response/difference";
import { ResponseText } from "@/components/response/response-text";
import { Scores } from "@/components/response/scores";
import { colourOf, letterOf } from "@/components/seed-groups/group-names";
import { samplesAt } from "@/lib/address/samples";
import { number, plural } from "@/lib/format";

import type { ShownRun } from "./shown-runs";

/** `base`: the response that it is compared with; null = it is shown as a whole. */
function Response({ sample, base }: { sample: PromptSample; base: string | null }) {
  return (
    <li>
      {base === null ? (
        <ResponseText content={sample.response} />
      ) : (
        <Difference before={base} after={sample.response} />
      )}
      {sample.finish_reason === "length" && <p className="small leaked">Cut by the token limit.</p>}
      <Scores scores={sample.scores} />
    </li>
  );
}

function Responses(props: {
  found: RunPromptSamples;
  prompt: string;
  run: Run | undefined;
  /** The responses of another column, compared with those at the same place. */
  base: readonly string[] | null;
}) {
  const { found, prompt, run, base } = props;
  const first = found.steps[0];
  if (found.step === null)
    return (
      <p className="muted small">
        {first === undefined
          ? "This run has logged no response to this prompt."
          : `This run first logged this prompt at step ${number(first)}.`}
      </p>
    );
  const page = `/projects/${run?.project_id ?? ""}/runs/${found.run}`;
  const samples = samplesAt(page, found.step, found.items[0]?.kind ?? "rollout", prompt);
  return (
    <>
      <p className="small muted">
        <Link to={samples}>Step {number(found.step)}</Link>
        {found.count > found.items.length &&
          `, ${found.items.length} of ${plural(found.count, "response")}`}
      </p>
      <ol>
        {found.items.map((sample, place) => (
          <Response key={sample.number} sample={sample} base={base?.[place] ?? base?.[0] ?? null} />
        ))}
      </ol>
    </>
  );
}

export function PromptColumn(props: {
  shown: ShownRun;
  /** The id of the prompt. */
  prompt: string;
  /** The runs of the group that may stand here. */
  choices: readonly string[];
  runs: ReadonlyMap<string, Run>;
  found: RunPromptSamples | undefined;
  /** The responses that its own are compared with; null = they are shown as a whole. */
  base: readonly string[] | null;
  onChoose: (run: string) => void;
}) {
  const { shown, choices, runs, found, onChoose } = props;
  const nameOf = (id: string) => runs.get(id)?.name ?? id;
  const letter = letterOf(shown.group);
  return (
    <article aria-label={`Group ${letter}`}>
      <header style={{ borderColor: `var(${colourOf(shown.group)})` }}>
        <b>{letter}</b>
        {choices.length > 1 ? (
          <select
            className="input"
            aria-label={`Run of group ${letter}`}
            value={shown.run}
            onChange={(event) => onChoose(event.target.value)}
          >
            {choices.map((id) => (
              <option key={id} value={id}>
                {nameOf(id)}
              </option>
            ))}
          </select>
        ) : (
          <span className="clip">{nameOf(shown.run)}</span>
        )}
      </header>
      {found === undefined ? null : (
        <Responses
          found={found}
          prompt={props.prompt}
          run={runs.get(shown.run)}
          base={props.base}
        />
      )}
    </article>
  );
}
