/** Which training prompts saturate first: all over all steps as a heat map, each as a line. */
import "./prompts.css";

import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import { promptScorePages } from "@/api/measured/prompt-scores";
import type { PromptScores, Run } from "@/api/types";
import type { Grid } from "@/charts/heat/grid";
import { GridMap } from "@/charts/heat/grid-map";
import { pictureOfGrid } from "@/charts/heat/picture";
import { Sparkline } from "@/charts/sparkline";
import { whole } from "@/charts/ticks";
import { FigureMenu } from "@/components/chart/figure-menu";
import { More } from "@/components/more";
import { isLive, LARGE_REFETCH_MS } from "@/components/run-list/batches";
import { Segmented } from "@/components/segmented";
import { Empty, Loaded } from "@/components/states";
import { Table, type Column } from "@/components/table";
import { noPromptScores } from "@/features/run/run-status";
import { useView } from "@/features/run/view";
import { partsOfRun } from "@/lib/files/file-name";
import { number, percent, plural } from "@/lib/format";
import { useTheme } from "@/lib/theme";
import { useGo } from "@/lib/address/use-go";

import {
  csvRows,
  firstMeasure,
  isRepeated,
  learned,
  ruleOf,
  saturatedText,
  type Learned,
  type Measure,
} from "./saturation";

/** What the colours of the heat map mean. */
const SHADES: Readonly<Record<Measure, string>> = {
  passed: "faint where no response passed, strong where all did",
  score: "faint at the lowest score shown here, strong at the highest",
};

export function PromptsTab({ run, base }: { run: Run; base: string }) {
  const query = useInfiniteQuery({
    ...promptScorePages(run.id),
    refetchInterval: isLive(run) && LARGE_REFETCH_MS,
  });
  return (
    <Loaded query={query} lines={8}>
      {({ pages }) => {
        const [first] = pages;
        const items = pages.flatMap((page) => page.items);
        if (first === undefined || items.length === 0) return <NoPrompts run={run} />;
        return (
          <>
            <Prompts run={run} base={base} found={{ ...first, items }} />
            <More query={query} />
          </>
        );
      }}
    </Loaded>
  );
}

function NoPrompts({ run }: { run: Run }) {
  return (
    <section className="card">
      <Empty icon="runs" title="No scores of prompts">
        {noPromptScores(run)}
      </Empty>
    </section>
  );
}

const shownText = (one: Learned): string => one.prompt.text ?? one.prompt.prompt_id;

const shownValue = (value: number | null, measure: Measure): string =>
  value === null ? "n/a" : measure === "passed" ? percent(value) : number(value);

function Prompts({ run, base, found }: { run: Run; base: string; found: PromptScores }) {
  const { search, set } = useView();
  const first = firstMeasure(found.items);
  const wanted = search.get("by");
  const measure = wanted === "score" || wanted === "passed" ? wanted : first;
  const rows = learned(found.items, measure);
  return (
    <section className="card prompt-scores" aria-label="Prompts">
      <div className="row card-head">
        <h2>{saturatedText(rows, found.width)}</h2>
        <span className="grow" />
        {first === "passed" && (
          <Segmented
            label="Measure"
            value={measure}
            options={[
              ["passed", "Passed"],
              ["score", "Score"],
            ]}
            onChange={(next) => set({ by: next === first ? null : next })}
          />
        )}
        <FigureMenu
          title="Prompts"
          of={[...partsOfRun(run), "prompts"]}
          figure={() => ({
            ...pictureOfGrid(gridOf(rows, found, measure)),
            ...{ title: "Training prompts by step", axis: "step", isLog: false },
            run: `${run.name}: ${SHADES[measure]}`,
            yLabel: "prompts, those that saturate first on top",
          })}
          rows={() => csvRows(found.items)}
          rowsText="all steps of these prompts"
        />
      </div>
      <p className="small muted remark">
        {ruleOf(measure, found.width)}
        {found.width > 1 && ` A column covers ${whole(found.width)} steps.`}
        {found.n_prompts > rows.length &&
          ` These are the first ${number(rows.length)} of ${number(found.n_prompts)} prompts, in the order in which they were sampled.`}
        {found.next_step !== null && ` Shown up to step ${whole(found.next_step - 1)}.`}
      </p>
      <HeatOfPrompts rows={rows} found={found} measure={measure} base={base} />
      <List rows={rows} measure={measure} base={base} />
    </section>
  );
}

const samplesOf = (base: string, { prompt }: Learned): string =>
  `${base}/samples?prompt=${encodeURIComponent(prompt.prompt_id)}`;

/** The scale on which all prompts are drawn. */
function rangeOf(rows: readonly Learned[], measure: Measure): readonly [number, number] {
  const known = rows.flatMap((row) => row.values.filter((one) => one !== null));
  return measure === "passed" ? [0, 1] : [Math.min(...known), Math.max(...known)];
}

/** Values on a scale from 0 to 1, by prompt and step. */
function gridOf(rows: readonly Learned[], found: PromptScores, measure: Measure): Grid {
  const [low, high] = rangeOf(rows, measure);
  const share = (value: number) => (high > low ? (value - low) / (high - low) : 1);
  return {
    rows: rows.map((row) => ({
      label: shownText(row),
      x: row.prompt.x,
      shares: row.values.map((one) => (one === null ? null : share(one))),
    })),
    width: found.width,
    first: found.first_step ?? 0,
    // Of many prompts the first are shown, which may all have been sampled early.
    last: Math.max(found.first_step ?? 0, ...rows.map(({ prompt }) => prompt.x.at(-1) ?? 0)),
  };
}

function HeatOfPrompts(props: {
  rows: readonly Learned[];
  found: PromptScores;
  measure: Measure;
  base: string;
}) {
  const { rows, found, measure, base } = props;
  const go = useGo();
  const theme = useTheme();
  const [at, setAt] = useState<{ row: number; step: number } | null>(null);
  const near = at === null ? undefined : rows[at.row];
  const column = (step: number) => Math.floor(step / found.width);
  const place = near?.prompt.x.findIndex((step) => column(step) === column(at?.step ?? 0)) ?? -1;
  return (
    <div className="map">
      <GridMap
        {...gridOf(rows, found, measure)}
        theme={theme}
        label={`${plural(rows.length, "prompt")} by step, those that saturate first on top; the list below has their numbers`}
        onLook={(row, step) => setAt(row === null ? null : { row, step })}
        onPick={(row) => {
          const picked = rows[row];
          if (picked !== undefined) void go(samplesOf(base, picked));
        }}
      />
      <p className="small muted told" dir="auto">
        {near === undefined || at === null
          ? `A row is a prompt: ${SHADES[measure]}, empty where it was not sampled. Click one to read its samples.`
          : `Step ${whole(at.step)}: ${place < 0 ? "not sampled" : shownValue(near.values[place] ?? null, measure)} · ${shownText(near)}`}
      </p>
    </div>
  );
}

function List(props: { rows: readonly Learned[]; measure: Measure; base: string }) {
  const { rows, measure, base } = props;
  const range = rangeOf(rows, measure);
  const columns: readonly Column[] = [
    "Prompt",
    ["Saturated at step", "num"],
    ["First", "num"],
    ["Last", "num"],
    "Through training",
  ];
  return (
    <Table columns={columns} items={rows}>
      {(one) => (
        <tr key={one.prompt.prompt_id}>
          <td className="prompt-text">
            <Link to={samplesOf(base, one)} dir="auto">
              {shownText(one)}
            </Link>
          </td>
          <td className="num">
            {one.saturatedAt === null ? <span className="faint">no</span> : whole(one.saturatedAt)}
          </td>
          <td className="num">
            {shownValue(one.values.find((value) => value !== null) ?? null, measure)}
          </td>
          <td className="num">
            {isRepeated(one) ? shownValue(one.last, measure) : <span className="faint">–</span>}
          </td>
          <td>
            {isRepeated(one) && (
              <Sparkline
                values={one.values}
                range={range}
                label={`From ${shownValue(one.values[0] ?? null, measure)} to ${shownValue(one.last, measure)}`}
              />
            )}
          </td>
        </tr>
      )}
    </Table>
  );
}
