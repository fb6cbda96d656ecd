/** What was not the same where the groups were executed: code, libraries, hardware. */
import { useQuery } from "@tanstack/react-query";

import { environmentDifferencesQuery } from "@/api/differences";
import type { EnvironmentDifferences as Found, SeedGroups } from "@/api/types";
import { letterOf } from "@/components/seed-groups/group-names";
import { Loaded } from "@/components/states";
import { Table } from "@/components/table";
import { Sentence } from "@/components/text/sentence";

import { unrecordedWords, valuesOf } from "./environment-words";

function Facts({ found, answer }: { found: Found; answer: SeedGroups }) {
  const total = answer.groups.reduce((sum, group) => sum + group.runs.length, 0);
  const isKnown = (found.unrecorded["environment"]?.length ?? 0) < total;
  return (
    <>
      {found.items.length === 0 && isKnown && (
        <p className="muted">All that was recorded is the same.</p>
      )}
      {found.items.length > 0 && (
        <Table
          columns={["Fact", ...answer.groups.map((_, place) => letterOf(place))]}
          items={found.items}
        >
          {({ path, values }) => (
            <tr key={path}>
              <td className="mono small">{path}</td>
              {answer.groups.map((group, place) => (
                <td key={place} className="mono small">
                  {valuesOf(values, group).map((one) => (
                    <div key={one}>{one}</div>
                  ))}
                </td>
              ))}
            </tr>
          )}
        </Table>
      )}
      {unrecordedWords(found, total).map((text) => (
        <p key={text} className="small muted">
          <Sentence text={text} />
        </p>
      ))}
    </>
  );
}

export function EnvironmentDifferences({ answer }: { answer: SeedGroups }) {
  const runIds = answer.groups.flatMap((group) => group.runs);
  const query = useQuery(environmentDifferencesQuery(runIds));
  return (
    <section aria-label="Code and machine">
      <h3>Code and machine</h3>
      <Loaded query={query} lines={2}>
        {(found) => <Facts found={found} answer={answer} />}
      </Loaded>
    </section>
  );
}
