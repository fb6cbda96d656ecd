/** What is not the same in the configs of the groups, and nothing else. */
import type { SeedGroups } from "@/api/types";
import { isData, letterOf, shownValue } from "@/components/seed-groups/group-names";
import { Table } from "@/components/table";

/** A model or snapshot is called by its name; its id is a hover away. */
function Value({ value, records }: { value: unknown; records: SeedGroups["records"] }) {
  const name = typeof value === "string" ? records[value] : undefined;
  return name === undefined ? (
    <td className="mono small">{shownValue(value)}</td>
  ) : (
    <td className="small" title={String(value)}>
      {name}
    </td>
  );
}

export function ConfigDifferences({ answer }: { answer: SeedGroups }) {
  const paths = Object.keys(answer.groups[0]?.config ?? {}).filter((path) => !isData(path));
  return (
    <section aria-label="Config">
      <h3>Config</h3>
      {paths.length === 0 ? (
        <p className="muted">
          The configs differ in nothing but the seed and, if listed below, the data.
        </p>
      ) : (
        <Table
          columns={["Setting", ...answer.groups.map((_, place) => letterOf(place))]}
          items={paths}
        >
          {(path) => (
            <tr key={path}>
              <td className="mono small">{path}</td>
              {answer.groups.map((group, place) => (
                <Value key={place} value={group.config[path]} records={answer.records} />
              ))}
            </tr>
          )}
        </Table>
      )}
    </section>
  );
}
