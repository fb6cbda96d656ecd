/** Why annotators passed comparisons on to others: by reason, and who gave it how often. */
import { useQuery } from "@tanstack/react-query";

import { skipsQuery } from "@/api/judgments";
import { Loaded } from "@/components/states";
import { Table } from "@/components/table";
import { number } from "@/lib/format";

import { byReason } from "./by-reason";

export function Skips({ projectId }: { projectId: string }) {
  const query = useQuery(skipsQuery(projectId));
  // Most projects have none; what is on its way may be none.
  if (query.error === null && !query.data?.items.length) return null;
  return (
    <section className="card">
      <h2 className="card-title">Skipped comparisons</h2>
      <p className="hint">
        An annotator who skips a comparison passes it on to others and says why. A reason that many
        give is often about the data or the guidelines; one that a single annotator gives may be
        about that annotator.
      </p>
      <Loaded query={query} lines={2}>
        {({ items }) => (
          <Table columns={["Reason", ["Comparisons", "num"], "Annotators"]} items={byReason(items)}>
            {({ reason, comparisons, by }) => (
              <tr key={reason}>
                <td className="text">{reason}</td>
                <td className="num">{number(comparisons)}</td>
                <td>{by}</td>
              </tr>
            )}
          </Table>
        )}
      </Loaded>
    </section>
  );
}
