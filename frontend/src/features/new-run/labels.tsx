/** What a run is filed under and when its turn comes: experiment, tags, priority. */
import { useId } from "react";
import { Link } from "react-router";

import type { ExperimentSummary, Run } from "@/api/types";

/** As they are typed; an experiment is named, and made at the start where there is none. */
export interface Labels {
  readonly experiment: string;
  readonly tags: string;
  readonly priority: string;
}

/** A copy begins with what its parent is filed under, unless an experiment was asked for. */
export function labelsOf(
  parent: Run | null,
  experiments: readonly ExperimentSummary[],
  askedFor: string | null = null,
): Labels {
  const wanted = askedFor ?? parent?.experiment_id;
  return {
    experiment: experiments.find(({ id }) => id === wanted)?.name ?? "",
    tags: parent?.tags.join(", ") ?? "",
    priority: String(parent?.priority ?? 0),
  };
}

/** Whether a copy's parent is filed under an experiment that cannot be offered: the copy is not. */
export const losesExperiment = (
  parent: Run | null,
  experiments: readonly ExperimentSummary[],
): boolean =>
  parent !== null &&
  parent.experiment_id !== null &&
  !experiments.some(({ id }) => id === parent.experiment_id);

/** "a, b,, a" -> ["a", "b"]. */
export function tagsOf(text: string): string[] {
  const words = text.split(",").map((word) => word.trim());
  return [...new Set(words.filter((word) => word !== ""))];
}

export function LabelFields(props: {
  labels: Labels;
  experiments: readonly ExperimentSummary[];
  parent: Run | null;
  onChange: (labels: Labels) => void;
}) {
  const { labels, experiments } = props;
  const id = useId();
  const set = (name: keyof Labels) => (event: { target: { value: string } }) =>
    props.onChange({ ...labels, [name]: event.target.value });
  const name = labels.experiment.trim();
  const known = experiments.find((one) => one.name === name);
  return (
    <>
      <div className="field">
        <label htmlFor={`${id}-experiment`}>Experiment</label>
        <input
          id={`${id}-experiment`}
          className="input"
          list={`${id}-experiments`}
          maxLength={200}
          placeholder="none"
          value={labels.experiment}
          onChange={set("experiment")}
        />
        <datalist id={`${id}-experiments`}>
          {experiments.map((one) => (
            <option key={one.id} value={one.name} />
          ))}
        </datalist>
        {known !== undefined && (
          <Link
            className="small"
            to={`/projects/${known.project_id}/experiments/${known.id}`}
            target="_blank"
          >
            {known.question || "Open the experiment"}
          </Link>
        )}
        {name === "" && losesExperiment(props.parent, experiments) && (
          <span className="hint">
            The experiment of {props.parent?.name} cannot be chosen here, so this run begins without
            it. That experiment is archived, belongs to another project, or is older than the newest
            500.
          </span>
        )}
        {name !== "" && known === undefined && (
          <span className="hint">
            This experiment does not exist yet. It is created when you start the run.
          </span>
        )}
      </div>
      <div className="pair">
        <div className="field">
          <label htmlFor={`${id}-tags`}>Tags</label>
          <input
            id={`${id}-tags`}
            className="input"
            placeholder="seed-1, baseline"
            value={labels.tags}
            onChange={set("tags")}
          />
        </div>
        <div className="field">
          <label htmlFor={`${id}-priority`}>Priority</label>
          <input
            id={`${id}-priority`}
            className="input"
            type="number"
            min={-100}
            max={100}
            title="Runs with a higher priority start first. Of runs with equal priority, the oldest starts first."
            value={labels.priority}
            onChange={set("priority")}
          />
        </div>
      </div>
    </>
  );
}
