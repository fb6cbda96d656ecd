/** What the signs above the charts mean; each kind is switched on and off. */
import { KINDS, type MarkerKind } from "@/charts/markers/folding";
import { Glyph } from "@/charts/markers/glyph";

import type { Markers } from "./use-markers";

const NAMES: Readonly<Record<MarkerKind, readonly [string, string]>> = {
  alert: ["Alerts", "Warnings and errors with a step; all are on the Events tab."],
  note: ["Notes", "Information from the trainer, such as which step's model is the output."],
  resume: ["Resumes", "A new attempt resumed after this step."],
  checkpoint: ["Checkpoints", "Weights and optimizer state were saved after this step."],
  evaluation: [
    "Evaluations",
    "At this step the run was evaluated, or somebody attached a measurement.",
  ],
};

export function MarkerLegend({ counts, hidden, toggle }: Markers) {
  const kinds = KINDS.filter((kind) => counts[kind] > 0);
  if (kinds.length === 0) return null;
  return (
    <div className="marker-legend" role="group" aria-label="Markers on the charts">
      {kinds.map((kind) => (
        <button
          key={kind}
          type="button"
          aria-pressed={!hidden.has(kind)}
          title={NAMES[kind][1]}
          onClick={() => toggle(kind)}
        >
          <Glyph kind={kind} /> {NAMES[kind][0]}{" "}
          <span className="mono faint">{counts[kind].toLocaleString("en-US")}</span>
        </button>
      ))}
      <span className="small faint wide">
        A number counts the markers of one kind that share a place. +2 means two further markers
        there, and several kinds in all. Click to zoom in.
      </span>
    </div>
  );
}
