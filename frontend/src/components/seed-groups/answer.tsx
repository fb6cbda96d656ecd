/** Is the best group better than the others, and how many seeds would tell? */
import "./answer.css";

import type { ReactNode } from "react";

import type { GroupDifference, SeedGroup, SeedGroups } from "@/api/types";
import { Sentence } from "@/components/text/sentence";
import { lowerFirst, number, plural } from "@/lib/format";

import { FEWEST_FOR_MEAN } from "./estimate";
import { letterOf } from "./group-names";

/** What decides, as it stands within a sentence. */
const measureOf = ({ title, evaluated_on: on }: SeedGroups): string =>
  on === null ? lowerFirst(title) : `${lowerFirst(title)} on \`${on}\``;

function headline(answer: SeedGroups): string {
  const { metric, why_none: whyNone, groups, differences } = answer;
  const measure = measureOf(answer);
  if (groups.length < 2) return "These runs are seeds of one config.";
  if (metric === null) return whyNone;
  const [first] = differences;
  const alike = groups.filter(({ apart }) => apart === null);
  const [missing, all] = withoutValue(alike);
  if (first === undefined && alike.length > 1 && missing > 0)
    return `Not decided yet: ${number(missing)} of ${plural(all, "run")} ${missing === 1 ? "has" : "have"} no ${measure}.`;
  if (first === undefined && groups.some((group) => group.why_open !== ""))
    return `Not decided by ${measure}: fewer than two groups can be compared yet.`;
  if (first === undefined)
    return groups.some(({ apart }) => apart !== null)
      ? `No two groups measure the same ${measure}.`
      : `Fewer than two groups have a ${measure}.`;
  if (differences.every((one) => one.is_decided)) {
    const [best, others] = sides(first.better, differences, groups);
    return `${best} is better than ${others} by ${measure}.`;
  }
  return `Not decided by ${measure}: ${undecided(first.better, answer)}.`;
}

/** How many of the runs that count have no value, and how many count. */
function withoutValue(groups: readonly SeedGroup[]): [missing: number, all: number] {
  const all = groups.reduce((n, one) => n + one.runs.length - one.left_out.length, 0);
  return [all - groups.reduce((n, one) => n + one.values.length, 0), all];
}

/** Which groups are not told apart from the best, and why: of too few seeds those alone. */
function undecided(better: number, { differences, groups }: SeedGroups): string {
  const open = differences.filter((one) => !one.is_decided);
  const few = [better, ...open.map((one) => one.worse)].filter(
    (place) => (groups[place]?.values.length ?? 0) < FEWEST_FOR_MEAN,
  );
  if (few.length === 0 || open.some((one) => one.interval != null))
    return `${sides(better, open, groups).join(" and ")} cannot be told apart`;
  const letters = few.map(letterOf);
  const which = few.length > MOST_LETTERS ? `${number(few.length)} groups` : listOf.format(letters);
  return few.length === 1
    ? `${which} has fewer than three seeds`
    : `${which} have fewer than three seeds`;
}

/** "A needs 2 more seeds, B 1": until differences of these groups have intervals. */
function seedsNeeded({ groups }: SeedGroups, unknown: readonly GroupDifference[]): string {
  const places = [...new Set(unknown.flatMap(({ better, worse }) => [better, worse]))].sort(
    (a, b) => a - b,
  );
  const needs = places.flatMap((place) => {
    const n = FEWEST_FOR_MEAN - (groups[place]?.values.length ?? 0);
    return n > 0 ? [[letterOf(place), n] as const] : [];
  });
  const [first, ...others] = needs;
  if (first === undefined) return "";
  if (needs.length > MOST_LETTERS) {
    const all = needs.reduce((sum, [, count]) => sum + count, 0);
    return `${number(needs.length)} groups need ${plural(all, "more seed")} in all`;
  }
  const [letter, n] = first;
  const more = others.map(([one, count]) => `${one} ${number(count)}`);
  return [`${letter} needs ${plural(n, "more seed")}`, ...more].join(", ");
}

const listOf = new Intl.ListFormat("en", { type: "conjunction" });

/** As many letters as the eye takes in at once. */
const MOST_LETTERS = 6;

const lettersOf = (differences: readonly GroupDifference[]): string =>
  differences.length > MOST_LETTERS
    ? `the ${number(differences.length)} others`
    : differences.map((one) => letterOf(one.worse)).join(", ");

/** A heading has room for the names of two groups, if they are no longer than this. */
const MOST_OF_A_NAME = 32;

/** The best group and those it is compared with: two by their names, more by their letters alone. */
function sides(
  better: number,
  differences: readonly GroupDifference[],
  groups: readonly SeedGroup[],
): [string, string] {
  const [only] = differences;
  if (only === undefined || differences.length > 1)
    return [letterOf(better), lettersOf(differences)];
  const named = (place: number) => {
    const name = groups[place]?.name ?? "";
    const isShort = name !== "" && name.length <= MOST_OF_A_NAME;
    return isShort ? `${letterOf(place)} (${name})` : letterOf(place);
  };
  return [named(better), named(only.worse)];
}

/** The letters of the groups that the answer leaves out, by why; null: it does not. */
function leftOut(
  { groups }: SeedGroups,
  whyOf: (group: SeedGroup) => string | null,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  groups.forEach((group, place) => {
    const why = whyOf(group);
    if (why !== null) found.set(why, [...(found.get(why) ?? []), letterOf(place)]);
  });
  return found;
}

export function Answer(props: {
  answer: SeedGroups;
  /** The set whose answer is awaited while that of another is shown; "": none of them. */
  awaited?: string | undefined;
  onSet: (set: string) => void;
  /** More choices of what decides, as items of the list. */
  children?: ReactNode;
}) {
  const { answer, awaited, onSet } = props;
  const { differences, title } = answer;
  const isDecided = differences.length > 0 && differences.every((one) => one.is_decided);
  const known = differences.filter((one) => one.interval != null);
  const unknown = differences.filter((one) => one.interval == null);
  return (
    <section
      className={`card answer ${isDecided && answer.doubt === "" ? "good" : ""}`}
      aria-label="Answer"
      aria-busy={awaited !== undefined}
    >
      <h2>
        <Sentence text={headline(answer)} />
      </h2>
      <ul>
        {known.map((one) => (
          <li key={one.worse}>
            <b>
              {letterOf(one.better)} and {letterOf(one.worse)}.
            </b>{" "}
            {one.sentence}
          </li>
        ))}
        {unknown.length > 0 && (
          <li>
            <b>
              {letterOf(unknown[0]?.better ?? 0)} and {lettersOf(unknown)}.
            </b>{" "}
            Fewer than three seeds cannot tell a difference from chance:{" "}
            {seedsNeeded(answer, unknown)}.
          </li>
        )}
        {answer.doubt !== "" && differences.length > 0 && (
          <li>
            <b>{answer.doubted.map(letterOf).join(", ")}.</b> {answer.doubt}
          </li>
        )}
        {[...leftOut(answer, ({ why_open: why }) => why || null)].map(([why, letters]) => (
          <li key={why}>
            <b>{letters.join(", ")}.</b> Not compared yet: {why}. {whenCompared(answer)}
          </li>
        ))}
        {answer.n_evaluations > 0 && (
          <li className="muted">
            {number(answer.n_evaluations)} of these runs{" "}
            {answer.n_evaluations === 1 ? "evaluates" : "evaluate"} models of the others and{" "}
            {answer.n_evaluations === 1 ? "is" : "are"} in no group.
          </li>
        )}
        <OfWhat answer={answer} />
        <MeasureChoice answer={answer} awaited={awaited} onSet={onSet} />
        {props.children}
        {[...leftOut(answer, ({ apart }) => apart)].map(([section, letters]) => (
          <li key={section}>
            <b>{letters.join(", ")}.</b> Not compared, because <code>{section}</code> differs and
            makes {lowerFirst(title)} a different measure. To compare them, evaluate all groups
            alike; the results of their experiment show such evaluations.
          </li>
        ))}
      </ul>
    </section>
  );
}

/** When a group that is left out for now is compared, and what to do where it never will be. */
const whenCompared = ({ evaluated_on: on }: SeedGroups): string =>
  on === null
    ? "A group is compared once all its seeds have succeeded and have a value at the same step as the other groups with the same planned number of steps. Leave out runs that will never have one."
    : "A group is compared once all its seeds have succeeded and their output models were evaluated like those of the others. Leave out runs that will never succeed.";

/** What the values are of that are compared: of outputs, or of the newest point of each run. */
function OfWhat({ answer }: { answer: SeedGroups }) {
  if (answer.evaluated_on !== null)
    return (
      <li className="muted">
        Measured by evaluations of the runs' output models, all sampled and judged alike.
        {answer.has_chosen &&
          " At least one run chose its output on these prompts, so its value may look better than it is."}
        {answer.is_unchecked &&
          " Whether a run was trained on some of these prompts was not checked: they are too many at once."}
      </li>
    );
  if (answer.differences.length === 0 || !answer.has_outputs) return null;
  return (
    <li className="muted">
      Compared by the newest {answer.metric?.startsWith("eval/") ? "evaluation" : "value"} of each
      run, which need not be of the output it kept.
    </li>
  );
}

/** What decides, where several measures could: they need not agree. */
function MeasureChoice(props: {
  answer: SeedGroups;
  awaited: string | undefined;
  onSet: (set: string) => void;
}) {
  const { evaluated_on: on, evaluation_sets: sets, attached } = props.answer;
  const count = sets.length + (attached === null ? 0 : 1);
  if (sets.length === 0 || count < 2) return null;
  return (
    <li className="muted">
      <label>
        These models were measured in {number(count)} ways, which need not agree. This one decides:{" "}
        <select
          className="input"
          value={props.awaited ?? on ?? ""}
          onChange={(event) => props.onSet(event.currentTarget.value)}
        >
          {attached !== null && <option value="">{attached}, attached to the runs</option>}
          {sets.map((set) => (
            <option key={set} value={set}>
              evaluations on {set}
            </option>
          ))}
        </select>
      </label>
    </li>
  );
}
