/** Judgments that do not count: they came too late, or their author had judged differently before. */
import { useInfiniteQuery } from "@tanstack/react-query";

import { reviewPages } from "@/api/projects";
import type { Judgment } from "@/api/types";
import { Ago } from "@/components/text/clock";
import { number } from "@/lib/format";

import { Judged, Pages } from "./record-lists";

const REASONS: Readonly<Record<NonNullable<Judgment["review_reason"]>, string>> = {
  late: "too late: others had taken the comparison",
  differs: "differs from an earlier judgment of the same annotator",
};

export function ReviewList({ projectId, count }: { projectId: string; count: number }) {
  const query = useInfiniteQuery(reviewPages(projectId));
  return (
    <Pages
      query={query}
      title={
        <h2 className="card-title">
          Kept for review <span className="muted">{number(count)}, not counted</span>
        </h2>
      }
      columns={[
        "Prompt, and responses from best to worst",
        "Annotator",
        "Why it does not count",
        "Note",
        "Submitted",
      ]}
      empty={null}
      row={(judgment) => (
        <>
          <Judged judgment={judgment} />
          <td>{judgment.by ?? <span className="faint">not shown</span>}</td>
          <td>{judgment.review_reason != null && REASONS[judgment.review_reason]}</td>
          <td>{judgment.comment}</td>
          <td className="small muted">
            <Ago at={judgment.created_at} />
          </td>
        </>
      )}
    />
  );
}
