/** The rejected rows of an import, each with its reason. */
import type { ImportResult } from "@/api/types";
import { Table } from "@/components/table";
import { Sentence } from "@/components/text/sentence";
import { number, sentence } from "@/lib/format";

export function RejectedRows(props: {
  result: Pick<ImportResult, "rejected" | "rejected_total">;
  /** What their numbers count, and what they are in the plural. */
  numbered: string;
  rows: string;
}) {
  const { rejected, rejected_total: total } = props.result;
  return (
    <>
      {total > rejected.length && (
        <p className="small muted import-part">
          The first {number(rejected.length)} of {number(total)} {props.rows} are listed.
        </p>
      )}
      {rejected.length > 0 && (
        <Table columns={[[props.numbered, "num"], "Reason"]} items={rejected}>
          {({ line, reason }) => (
            <tr key={`${line}-${reason}`}>
              <td className="num">{line}</td>
              <td>
                <Sentence text={sentence(reason)} />
              </td>
            </tr>
          )}
        </Table>
      )}
    </>
  );
}
