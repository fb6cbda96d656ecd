/** The rejected rows of an import, each with its reason. */
import type { ImportResult } from "@/api/types";
import { Table } from "@/components/table";
import { PlainText } from "@/components/text/plain-text";
import { Sentence } from "@/components/text/sentence";
import { number, sentence } from "@/lib/format";

export function RejectedRows(props: {
  result: Pick<ImportResult, "rejected" | "rejected_total">;
  /** What their numbers count, and what they are in the plural. */
  numbered: string;
  rows: string;
  /** What is shown in place of a number, such as the name of a file. */
  nameOf?: ((line: number) => string) | undefined;
}) {
  const { nameOf } = props;
  const { rejected, rejected_total: total } = props.result;
  return (
    <>
      {total > rejected.length && (
        <p className="small muted import-part">
          The first {number(rejected.length)} of {number(total)} {props.rows} are listed.
        </p>
      )}
      {rejected.length > 0 && (
        <Table
          columns={[nameOf === undefined ? [props.numbered, "num"] : props.numbered, "Reason"]}
          items={rejected}
        >
          {({ line, reason }) => (
            <tr key={`${line}-${reason}`}>
              {nameOf === undefined ? (
                <td className="num">{line}</td>
              ) : (
                <td className="file-name">
                  <PlainText text={nameOf(line)} />
                </td>
              )}
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
