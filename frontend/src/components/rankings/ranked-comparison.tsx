/** A comparison and how it was ranked: its responses, by whom and how. */
import "./ranked-comparison.css";

import type { RankedComparison, RankedResponse } from "@/api/types";
import { ResponseText } from "@/components/response/response-text";
import { Conversation } from "@/components/text/conversation";
import { PlainText } from "@/components/text/plain-text";
import { plural } from "@/lib/format";

import { flaggedOf, letterOf, nameOf, saidOf } from "./ranking-words";

interface RankedComparisonProps {
  readonly comparison: RankedComparison;
  /** What is known of a response besides its text, such as where it was sampled. */
  readonly noteOf?: (response: RankedResponse) => string;
  /** Whether prompt and responses are shown as annotators see them, not two lines of each response. */
  readonly isWhole?: boolean;
}

/** The responses of a comparison by letter, and what each annotator said of them. */
export function RankedComparisonCard({
  comparison,
  noteOf,
  isWhole = false,
}: RankedComparisonProps) {
  const { prompt, responses, judgments, judgments_required: wanted, created_at } = comparison;
  const ids = responses.map(({ id }) => id);
  return (
    <div className="ranked-comparison">
      <p className="small muted">
        {new Date(created_at).toLocaleDateString()} · {judgments.length} of{" "}
        {plural(wanted, "judgment")}
      </p>
      {isWhole && prompt !== null && (
        <section className="whole" aria-label="Prompt">
          <Conversation messages={prompt.messages} isRaw={false} />
        </section>
      )}
      <ul>
        {responses.map((response, place) => (
          <li key={response.id}>
            <b className="mono">{letterOf(place)}</b>
            {noteOf !== undefined && <span className="small faint mono">{noteOf(response)}</span>}
            {isWhole ? (
              <div className="whole">
                <ResponseText content={response.content} />
              </div>
            ) : (
              <p className="plain clamped" dir="auto" title={response.content}>
                <PlainText text={response.content} />
                {response.is_cut && "…"}
              </p>
            )}
          </li>
        ))}
      </ul>
      {judgments.length > 0 && (
        <dl>
          {judgments.map((given, place) => (
            <div key={place}>
              <dt className="clip">{nameOf(given)}</dt>
              <dd>
                {saidOf(given, ids).map(({ criterion, words }) => (
                  <span key={criterion} className="mono">
                    {criterion !== "" && <i>{criterion} </i>}
                    {words}
                  </span>
                ))}
                {given.flags.length > 0 && (
                  <span className="small">Flagged: {flaggedOf(given, ids)}</span>
                )}
                {given.comment !== "" && <q className="small">{given.comment}</q>}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
