/** Practice of the project: what is expected, and the share of it that an annotator has to reach. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Link } from "react-router";

import { practiceComparisonsQuery, removeFromPractice } from "@/api/practice";
import { changeProject, projectQuery } from "@/api/projects";
import type { CriterionRanking, PracticeComparison, Project } from "@/api/types";
import { keepFocus } from "@/components/focus/kept-focus";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { Empty, Loaded } from "@/components/states";
import { firstWords } from "@/components/text/conversation";

import { Explanation } from "./explanation";

export function PracticeTab({ projectId }: { projectId: string }) {
  const project = useQuery(projectQuery(projectId));
  return (
    <div className="stack">
      <Loaded query={project}>{(found) => <Bar project={found} key={projectId} />}</Loaded>
      <Comparisons projectId={projectId} />
    </div>
  );
}

function Bar({ project }: { project: Project }) {
  const id = useId();
  const client = useQueryClient();
  const stored = String(Number((100 * project.practice_bar).toFixed(2)));
  // Null: nothing is typed that is not saved, so the field shows what anybody saved last.
  const [typed, setTyped] = useState<string | null>(null);
  const percent = typed ?? stored;
  const saving = useMutation({
    mutationFn: (sent: string) => changeProject(project.id, { practice_bar: Number(sent) / 100 }),
    onSuccess: async (_, sent) => {
      await client.invalidateQueries({ queryKey: ["project", project.id] });
      setTyped((now) => (now === sent ? null : now));
    },
  });
  return (
    <form
      className="card padded form"
      aria-label="Practice"
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate(percent);
      }}
    >
      <div className="field">
        <label htmlFor={id}>Practice bar: pairs to order as expected, %</label>
        <span className="row">
          <input
            id={id}
            className="input short"
            type="number"
            required
            min={0}
            max={100}
            step="any"
            value={percent}
            onChange={(event) => setTyped(event.target.value)}
          />
          <button type="submit" className="btn" disabled={saving.isPending}>
            Save
          </button>
          <span className="small muted" role="status">
            {saving.isSuccess && percent === stored && "Saved."}
          </span>
        </span>
        <span className="hint">
          Annotators rank the practice comparisons before their first comparison, and see the
          expected ranking after each, with your explanation if you wrote one. Annotators who have
          passed stay passed; the others try again.
        </span>
      </div>
      <Refused asked={saving} />
    </form>
  );
}

function Comparisons({ projectId }: { projectId: string }) {
  const query = useQuery(practiceComparisonsQuery(projectId));
  const client = useQueryClient();
  const removal = useMutation({
    mutationFn: (comparisonId: string) => removeFromPractice(projectId, comparisonId),
    onSettled: () => client.invalidateQueries({ queryKey: ["project", projectId] }),
  });
  return (
    <section className="card" aria-label="Practice comparisons" ref={keepFocus}>
      <h2 className="card-title">Practice comparisons</h2>
      <Refused asked={removal} />
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty
              icon="rank"
              title="No practice yet"
              actions={
                <Link className="btn primary" to={`/projects/${projectId}/rank`}>
                  Choose a comparison
                </Link>
              }
            >
              Rank a comparison as you expect it, but do not submit it; then choose Use for practice
              above it. For two responses the dialog asks what you expect.
            </Empty>
          ) : (
            <ul className="practice-list">
              {items.map((item) => (
                <Item
                  key={item.comparison.id}
                  projectId={projectId}
                  item={item}
                  isPending={removal.isPending && removal.variables === item.comparison.id}
                  onRemove={() => removal.mutate(item.comparison.id)}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

function Item(props: {
  projectId: string;
  item: PracticeComparison;
  isPending: boolean;
  onRemove: () => void;
}) {
  const { projectId, item } = props;
  const prompt = firstWords(item.comparison.prompt.messages);
  return (
    <li>
      <div className="row">
        <b className="clip grow">{prompt}</b>
        <PendingButton className="btn ghost" isPending={props.isPending} onPress={props.onRemove}>
          Remove<span className="sr-only"> {prompt}</span>
        </PendingButton>
      </div>
      {item.expected.map((ranking) => (
        <Expected key={ranking.criterion} item={item} ranking={ranking} />
      ))}
      <Explanation projectId={projectId} item={item} />
    </li>
  );
}

function Expected({ item, ranking }: { item: PracticeComparison; ranking: CriterionRanking }) {
  const content = new Map(item.comparison.responses.map((one) => [one.id, one.content]));
  return (
    <div className="small muted">
      {ranking.criterion !== "" && <b>{ranking.criterion}</b>}
      {ranking.tiers.map((tier, place) =>
        tier.map((id) => (
          <div className="clip" key={id}>
            {place + 1}. {content.get(id)}
          </div>
        )),
      )}
    </div>
  );
}
