/** The comparisons of a prompt: which responses were ranked, by whom and how. */
import { useQuery } from "@tanstack/react-query";

import { rankingsQuery } from "@/api/judgments";
import type { RankedComparison, Sample } from "@/api/types";
import { Loaded } from "@/components/states";
import { PlainText } from "@/components/text/plain-text";
import { useMayChange } from "@/components/use-may";
import { number, plural } from "@/lib/format";

import { letterOf, nameOf, saidOf } from "./ranking-words";

interface PromptRankingsProps {
  readonly projectId: string;
  readonly promptId: string;
  /** What the page shows of the run: a response that is among them says so. */
  readonly samples: readonly Sample[];
}

export function PromptRankings({ projectId, promptId, samples }: PromptRankingsProps) {
  const query = useQuery(rankingsQuery(projectId, promptId));
  const mayChange = useMayChange(projectId);
  return (
    <section className="prompt-rankings" aria-label="Comparisons of this prompt">
      <h3>Comparisons of this prompt</h3>
      <Loaded query={query} lines={3}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="small faint">
              None.
              {mayChange && " Put responses up for ranking, or import comparisons of this prompt."}
            </p>
          ) : (
            <ol>
              {items.map((one) => (
                <ComparisonItem key={one.id} comparison={one} samples={samples} />
              ))}
            </ol>
          )
        }
      </Loaded>
    </section>
  );
}

/** Where a response was sampled, if the page shows it. */
function stepOf(content: string, isCut: boolean, samples: readonly Sample[]): string {
  const found = samples.find(({ response }) =>
    isCut ? response.startsWith(content) : response === content,
  );
  return found === undefined ? "" : `step ${number(found.step)}`;
}

function ComparisonItem(props: { comparison: RankedComparison; samples: readonly Sample[] }) {
  const { responses, judgments, judgments_required: wanted, created_at } = props.comparison;
  const ids = responses.map(({ id }) => id);
  return (
    <li>
      <p className="small muted">
        {new Date(created_at).toLocaleDateString()} · {judgments.length} of{" "}
        {plural(wanted, "judgment")}
      </p>
      <ul>
        {responses.map(({ id, content, is_cut }, place) => (
          <li key={id}>
            <b className="mono">{letterOf(place)}</b>
            <span className="small faint mono">{stepOf(content, is_cut, props.samples)}</span>
            <p className="plain clamped" dir="auto" title={content}>
              <PlainText text={content} />
              {is_cut && "…"}
            </p>
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
                {given.comment !== "" && <q className="small">{given.comment}</q>}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  );
}
