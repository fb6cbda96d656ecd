/** One heat map with its head: the newest column in numbers, or the one at the cursor. */
import { useMemo, useState } from "react";

import type { Run } from "@/api/types";
import { placeText } from "@/charts/axes";
import { summariesOf, type Spread, type Summary } from "@/charts/heat/bins";
import { HeatMap } from "@/charts/heat/heat-map";
import { pictureOfSpread } from "@/charts/heat/picture";
import type { Zoom } from "@/charts/live-curves";
import { FigureMenu } from "@/components/chart/figure-menu";
import type { View } from "@/features/run/view";
import { partsOfRun } from "@/lib/files/file-name";
import { number } from "@/lib/format";
import { useTheme } from "@/lib/theme";

import { DistributionTable } from "./distribution-table";
import { rowsOf } from "./rows";

interface DistributionCardProps {
  readonly run: Run;
  readonly spread: Spread;
  readonly view: View;
  readonly range: Zoom;
  readonly onZoom: (zoom: Zoom) => void;
  readonly onPick?: ((x: number) => void) | undefined;
}

/** What is known of a name; any other is told as it is. */
const KNOWN: Readonly<Record<string, readonly [title: string, unit: string]>> = {
  reward: ["Reward of responses", "per response, as trained"],
  length: ["Length of responses", "tokens per response"],
  advantage: ["Advantage of tokens", "per response token"],
};

const HEIGHT = 190;
/** In a picture, where nothing else says it. */
const MEANING = "stronger = a larger share of the values; median, 5 and 95 %";

export function DistributionCard(props: DistributionCardProps) {
  const { run, spread, view } = props;
  const theme = useTheme();
  const [place, setPlace] = useState<number | null>(null);
  const [ownTable, setOwnTable] = useState<boolean | null>(null);
  const isTable = ownTable ?? view.isTable;
  const summaries = useMemo(() => summariesOf(spread), [spread]);
  const [title, unit] = KNOWN[spread.name] ?? [spread.name, ""];
  const at = summaries[place ?? summaries.length - 1];
  return (
    <section className="card chart" aria-label={`${spread.name} distribution`}>
      <header>
        <div className="row">
          <h3 className="clip">{title}</h3>
          <span className="grow" />
          <span className="value" title="Median">
            {number(at?.quantiles[MEDIAN])}
          </span>
          <FigureMenu
            title={title}
            of={[...partsOfRun(run), spread.name, "distribution"]}
            figure={() => ({
              ...pictureOfSpread(spread, summaries, props.range),
              ...{ title, run: `${run.name}: ${MEANING}`, axis: view.axis, isLog: false },
              yLabel: unit === "" ? spread.name : `${spread.name}, ${unit}`,
            })}
            rows={() => rowsOf(spread, summaries, view.axis)}
            rowsText="quantiles of what is shown"
            isTable={isTable}
            onTable={() => setOwnTable(!isTable)}
          />
        </div>
        <p>
          <span className="clip">{unit}</span>
          <span className="grow" />
          {at !== undefined && <span className="mono">{middleOf(at)}</span>}
          {place !== null && at !== undefined && (
            <span className="mono at">{placeText(view.axis, at.x)}</span>
          )}
        </p>
      </header>
      {isTable ? (
        <DistributionTable title={title} summaries={summaries} view={view} height={HEIGHT} />
      ) : (
        <div style={{ height: HEIGHT }}>
          <HeatMap
            spread={spread}
            summaries={summaries}
            axis={view.axis}
            range={props.range}
            height={HEIGHT}
            theme={theme}
            label={labelOf(title, at)}
            syncKey={`run-${view.axis}`}
            onZoom={props.onZoom}
            onPick={props.onPick}
            onCursor={setPlace}
          />
        </div>
      )}
    </section>
  );
}

/** Places of the quantiles in a summary. */
const [LOW, MEDIAN, HIGH] = [1, 3, 5];

const middleOf = ({ quantiles }: Summary) =>
  `5–95 %: ${number(quantiles[LOW])} to ${number(quantiles[HIGH])}`;

function labelOf(title: string, at: Summary | undefined): string {
  if (at === undefined) return title;
  return `${title}: median ${number(at.quantiles[MEDIAN])}, ${middleOf(at)}, of ${at.n} values`;
}
