/** The comparisons of a prompt: which responses were ranked, by whom and how. */
import { useQuery } from "@tanstack/react-query";

import { rankingsQuery } from "@/api/judgments";
import type { RankedResponse, Sample } from "@/api/types";
import { RankedComparisonCard } from "@/components/rankings/ranked-comparison";
import { Loaded } from "@/components/states";
import { useMayChange } from "@/components/use-may";
import { number } from "@/lib/format";

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
                <li key={one.id}>
                  <RankedComparisonCard
                    comparison={one}
                    noteOf={(response) => stepOf(response, samples)}
                  />
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
    </section>
  );
}

/** Where a response was sampled, if the page shows it. */
function stepOf({ content, is_cut }: RankedResponse, samples: readonly Sample[]): string {
  const found = samples.find(({ response }) =>
    is_cut ? response.startsWith(content) : response === content,
  );
  return found === undefined ? "" : `step ${number(found.step)}`;
}
