/** The charts of a run: the pinned ones, those that tell most, the rest folded. */
import { useState } from "react";

import type { Run } from "@/api/types";
import type { Zoom } from "@/charts/live-curves";
import type { Drawn } from "@/components/chart/columns";
import { Sentence } from "@/components/text/sentence";
import { plural } from "@/lib/format";
import { listedIn, toggledIn, useView } from "@/features/run/view";

import { FullScreen } from "./arrange/full-screen";
import { DropPlace } from "./arrange/grip";
import { movedBy, movedTo, toggled, type Pins } from "./arrange/pins";
import type { Arranged } from "./arrange/place-items";
import type { SetPins } from "./arrange/use-pins";
import { CurveCard, type CurveCardProps } from "./chart/curve-card";
import { rangeOf, SYSTEM, type ChartGroup, type Layout } from "./layout";

/** What all charts of a page have in common. */
type Shared = Omit<CurveCardProps, "drawn" | "range" | "onZoom" | "arranged">;

export interface ChartsProps {
  readonly layout: Layout;
  readonly pins: Pins;
  readonly setPins: SetPins;
  readonly isSearched: boolean;
  readonly shared: Shared;
}

type Cards = Shared & {
  readonly range: Zoom;
  readonly onZoom: (zoom: Zoom) => void;
  readonly arrangedOf: (drawn: Drawn) => Arranged;
};

export function Charts({ layout, pins, setPins, isSearched, shared }: ChartsProps) {
  const { view, search, set, zoomTo } = useView();
  const isAsked = view.axis === shared.view.axis;
  // A part of the axis that is on its way out would be none of the next.
  const onZoom = (zoom: Zoom) => isAsked && zoomTo(zoom);
  const [told, setTold] = useState("");
  const { pinned, first, folded } = layout;
  const all = [...pinned, ...first, ...folded.flatMap(({ charts }) => charts)];
  const shown = pinned.map(({ explained }) => explained.name);
  const open = new Set(listedIn(search, "open"));
  const arrangedOf = ({ explained: { name, title } }: Drawn): Arranged => ({
    isPinned: pins.includes(name),
    isFirst: shown[0] === name,
    isLast: shown.at(-1) === name,
    onPin: () => {
      const next = setPins((now) => toggled(now, name));
      setTold(next.includes(name) ? `${title} is pinned to the top.` : `${title} is unpinned.`);
    },
    onMove: (by) => {
      const next = setPins((now) => movedBy(now, shown, name, by));
      const place = next.filter((one) => shown.includes(one)).indexOf(name) + 1;
      setTold(`${title} is pinned chart ${place} of ${shown.length}.`);
    },
    onFullScreen: () => set({ full: name }),
  });
  const full = all.find(({ explained }) => explained.name === search.get("full"));
  const cards = { ...shared, range: rangeOf(all), onZoom, arrangedOf };
  return (
    <>
      <p className="sr-only" role="status">
        {told}
      </p>
      {pinned.length > 0 && (
        <>
          <h2 className="pinned-title">Pinned</h2>
          <Grid
            charts={pinned}
            cards={cards}
            onDrop={(name, target) => setPins((now) => movedTo(now, name, target))}
          />
        </>
      )}
      {first.length > 0 && <h2 className="sr-only">Charts</h2>}
      <Grid charts={first} cards={cards} />
      {folded.map((group) => (
        <Folded
          key={group.title}
          group={group}
          isOpen={isSearched || open.has(group.title)}
          onToggle={() => set((now) => toggledIn(now, "open", group.title))}
          cards={cards}
        />
      ))}
      {full !== undefined && (
        <FullScreen
          {...shared}
          drawn={full}
          range={cards.range}
          onZoom={onZoom}
          onClose={() => set({ full: null })}
        />
      )}
    </>
  );
}

function Grid(props: {
  charts: readonly Drawn[];
  cards: Cards;
  /** Absent where charts have no order of the reader. */
  onDrop?: (name: string, target: string) => void;
}) {
  const { charts, onDrop } = props;
  const { arrangedOf, ...cards } = props.cards;
  if (charts.length === 0) return null;
  return (
    <div className="curve-rows">
      <div className="curve-grid">
        {charts.map((drawn) => {
          const { name } = drawn.explained;
          const card = (
            <CurveCard key={name} drawn={drawn} arranged={arrangedOf(drawn)} {...cards} />
          );
          if (onDrop === undefined) return card;
          return (
            <DropPlace key={name} onDrop={(dropped) => onDrop(dropped, name)}>
              {card}
            </DropPlace>
          );
        })}
      </div>
    </div>
  );
}

function Folded(props: { group: ChartGroup; isOpen: boolean; onToggle: () => void; cards: Cards }) {
  const { title, charts } = props.group;
  return (
    <details className="curve-group" open={props.isOpen}>
      <summary
        onClick={(event) => {
          event.preventDefault();
          props.onToggle();
        }}
      >
        <h2>{title}</h2>
        <span className="small faint">{plural(charts.length, "chart")}</span>
        <span className="small faint clip titles">
          {charts.map(({ explained }) => explained.title).join(", ")}
        </span>
      </summary>
      {props.isOpen && title === SYSTEM && <GpuNote run={props.cards.run} charts={charts} />}
      {props.isOpen && <Grid charts={charts} cards={props.cards} />}
    </details>
  );
}

/** Why there are no curves of GPUs: a line at 0 would say that they did nothing. */
function GpuNote({ run, charts }: { run: Run; charts: readonly Drawn[] }) {
  if (charts.some(({ explained: { name } }) => name.startsWith("system/gpu_busy/"))) return null;
  const resources = run.config["resources"] as { gpus?: unknown } | undefined;
  const why =
    Number(resources?.gpus ?? 0) > 0
      ? "Its driver does not say how busy the GPU is."
      : "The run has no GPU (`resources.gpus` is 0).";
  return (
    <p className="gpu-note small muted">
      GPU: n/a. <Sentence text={why} />
    </p>
  );
}
