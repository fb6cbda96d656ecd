/** Solutions: a problem and the steps of a response to it, each with its label. */
import { useInfiniteQuery } from "@tanstack/react-query";

import { solutionPages } from "@/api/projects";
import type { Solution } from "@/api/types";
import { Icon } from "@/components/icons";
import { Empty } from "@/components/states";
import { Ago } from "@/components/text/clock";
import { firstWords } from "@/components/text/conversation";
import { percent } from "@/lib/format";

import { ImportLink, Pages } from "./record-lists";

/** What a label says: right, wrong, or how likely right. */
function Label({ label }: { label: number }) {
  if (label === 1)
    return (
      <span className="step-label right">
        <Icon name="check" /> right
      </span>
    );
  if (label === 0)
    return (
      <span className="step-label wrong">
        <Icon name="close" /> wrong
      </span>
    );
  return <span className="step-label">{percent(label, 0)} right</span>;
}

function Steps({ solution }: { solution: Solution }) {
  return (
    <>
      <ol className="solution-steps">
        {solution.steps.map((step, place) => (
          <li key={place}>
            <span className="step-text">{step.content}</span>
            <Label label={step.label} />
          </li>
        ))}
      </ol>
      {!solution.is_finished && (
        <p className="faint small">The response continued. The later steps have no label.</p>
      )}
    </>
  );
}

export function SolutionList({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(solutionPages(projectId));
  return (
    <Pages
      query={query}
      columns={["Problem", "Steps", "Added"]}
      empty={
        <Empty icon="check" title="No solutions yet" actions={<ImportLink projectId={projectId} />}>
          A solution is a response in steps, each with a label: right or wrong. A process reward
          model trains on solutions.
        </Empty>
      }
      row={(solution) => (
        <>
          <td className="text problem">{firstWords(solution.messages)}</td>
          <td>
            <Steps solution={solution} />
          </td>
          <td className="small muted">
            <Ago at={solution.created_at} />
          </td>
        </>
      )}
    />
  );
}
