/** What is not the same in the configs of the groups, and nothing else. */
import type { SeedGroups } from "@/api/types";
import { isData, letterOf, shownValue } from "@/components/seed-groups/group-names";
import { Table } from "@/components/table";

export function ConfigDifferences({ answer }: { answer: SeedGroups }) {
  const paths = Object.keys(answer.groups[0]?.config ?? {}).filter((path) => !isData(path));
  return (
    <section aria-label="Config">
      <h3>Config</h3>
      {paths.length === 0 ? (
        <p className="muted">The same but for the seed, and for the data if that differs below.</p>
      ) : (
        <Table
          columns={["Setting", ...answer.groups.map((_, place) => letterOf(place))]}
          items={paths}
        >
          {(path) => (
            <tr key={path}>
              <td className="mono small">{path}</td>
              {answer.groups.map((group, place) => (
                <td key={place} className="mono small">
                  {shownValue(group.config[path])}
                </td>
              ))}
            </tr>
          )}
        </Table>
      )}
    </section>
  );
}
