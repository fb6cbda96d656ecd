/** The snapshots that are not the same: what each holds, and which prompts it shares. */
import { useQuery } from "@tanstack/react-query";

import { dataDifferencesQuery } from "@/api/differences";
import type {
  ComparedSnapshot,
  DataDifference,
  DataDifferences as Found,
  PromptOverlap,
  SeedGroups,
} from "@/api/types";
import { letterOf } from "@/components/seed-groups/group-names";
import { Loaded } from "@/components/states";
import { Table, type Column } from "@/components/table";
import { number, plural, shortHash, words } from "@/lib/format";

const columns = (areTrainedOn: boolean): readonly Column[] => [
  "Snapshot",
  "Groups",
  [areTrainedOn ? "Trained on" : "Not held out", "num"],
  ["Held out", "num"],
  "sha256",
  "Prompts, compared with the first",
];

const OF_A_SET = /^evaluation_sets\.(.+)\.prompts$/;

/** What people call a field of the config that names a snapshot. */
export function nameOf(field: string): string {
  const set = OF_A_SET.exec(field)?.[1];
  return set === undefined ? words(field) : `prompts of the set ${set}`;
}

type Counts = Readonly<Record<string, Readonly<Record<string, number>> | undefined>>;

function recordsOf(snapshot: ComparedSnapshot, side: string): string {
  const found = (snapshot.counts as Counts)[side] ?? {};
  const pairs = found["pairs"];
  return `${number(found["records"] ?? 0)}${pairs === undefined ? "" : `, ${plural(pairs, "pair")}`}`;
}

const groupsOf = (answer: SeedGroups, runs: readonly string[]): string =>
  answer.groups
    .flatMap((group, place) =>
      group.runs.some((run) => runs.includes(run)) ? [letterOf(place)] : [],
    )
    .join(", ");

function Overlap(props: {
  overlap: PromptOverlap;
  first: ComparedSnapshot;
  own: ComparedSnapshot;
}) {
  const { overlap, first, own } = props;
  const { in_both: both, added, removed, trained_on_heldout: leaked } = overlap;
  return (
    <>
      {number(both)} in common, {number(added)} added, {number(removed)} removed.{" "}
      {overlap.is_heldout_equal
        ? "Both hold out the same prompts."
        : "The held-out prompts differ."}
      {own.is_trained_on && leaked > 0 && (
        <b className="leaked">
          {" "}
          This one trains on {plural(leaked, "prompt")} that the first holds out.
        </b>
      )}
      {first.is_trained_on && overlap.heldout_from_training > 0 && (
        <b className="leaked">
          {" "}
          The first trains on {plural(overlap.heldout_from_training, "prompt")} that this one holds
          out.
        </b>
      )}
    </>
  );
}

function beside(difference: DataDifference, place: number, mostRecords: number) {
  const first = difference.snapshots[0];
  const own = difference.snapshots[place];
  if (place === 0 || first === undefined || own === undefined) return "–";
  if (own.sha256 === first.sha256) return "The same records.";
  const overlap = difference.overlaps[place - 1];
  return overlap == null ? (
    `Not compared: together they have more than ${number(mostRecords)} records.`
  ) : (
    <Overlap overlap={overlap} first={first} own={own} />
  );
}

function Snapshots(props: { difference: DataDifference; answer: SeedGroups; most: number }) {
  const { difference, answer, most } = props;
  const without = groupsOf(answer, difference.without);
  return (
    <>
      <p className="mono small field-name">{nameOf(difference.field)}</p>
      <Table
        columns={columns(difference.snapshots.every((one) => one.is_trained_on))}
        items={difference.snapshots.map((one, place) => ({ one, place }))}
      >
        {({ one, place }) => (
          <tr key={one.id}>
            <td>{one.name}</td>
            <td>{groupsOf(answer, one.runs)}</td>
            <td className="num nowrap">{recordsOf(one, "train")}</td>
            <td className="num nowrap">{recordsOf(one, "heldout")}</td>
            <td className="mono small" title={one.sha256}>
              {shortHash(one.sha256)}
            </td>
            <td className="small beside-first">{beside(difference, place, most)}</td>
          </tr>
        )}
      </Table>
      {without !== "" && <p className="muted small">Groups with runs that name none: {without}.</p>}
    </>
  );
}

function Data({ found, answer }: { found: Found; answer: SeedGroups }) {
  const same = found.same.map(nameOf).join(", ");
  return (
    <>
      {found.items.map((difference) => (
        <Snapshots
          key={difference.field}
          difference={difference}
          answer={answer}
          most={found.most_records}
        />
      ))}
      {same !== "" && <p className="muted">All runs use the same snapshot for {same}.</p>}
      {found.items.length === 0 && same === "" && (
        <p className="muted">These runs use no snapshot.</p>
      )}
    </>
  );
}

export function DataDifferences({ answer }: { answer: SeedGroups }) {
  const runIds = answer.groups.flatMap((group) => group.runs);
  const query = useQuery(dataDifferencesQuery(runIds));
  return (
    <section aria-label="Data">
      <h3>Data</h3>
      <Loaded query={query} lines={2}>
        {(found) => <Data found={found} answer={answer} />}
      </Loaded>
    </section>
  );
}
