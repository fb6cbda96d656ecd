/** Why a practice comparison is ranked as expected, and the form that says it in other words. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { explainPractice } from "@/api/practice";
import type { PracticeComparison } from "@/api/types";
import { ExplanationField } from "@/components/form/explanation-field";
import { useSending } from "@/components/form/use-sending";
import { Refused } from "@/components/refused";
import { Markdown } from "@/components/text/markdown";

export function Explanation({ projectId, item }: { projectId: string; item: PracticeComparison }) {
  const [isOpen, setOpen] = useState(false);
  const isSaid = item.explanation.trim() !== "";
  if (isOpen)
    return <ExplanationForm projectId={projectId} item={item} onClose={() => setOpen(false)} />;
  return (
    <div className="explanation">
      {isSaid ? <Markdown text={item.explanation} /> : <p className="muted">No explanation.</p>}
      <button type="button" className="btn ghost" onClick={() => setOpen(true)}>
        {isSaid ? "Change the explanation" : "Write an explanation"}
      </button>
    </div>
  );
}

function ExplanationForm(props: {
  projectId: string;
  item: PracticeComparison;
  onClose: () => void;
}) {
  const { projectId, item, onClose } = props;
  const [text, setText] = useState(item.explanation);
  const client = useQueryClient();
  const saving = useSending(
    "The explanation of a practice comparison was not saved.",
    {
      mutationFn: (explanation: string) =>
        explainPractice(projectId, item.comparison.id, explanation),
      onSuccess: () => client.invalidateQueries({ queryKey: ["project", projectId, "practice"] }),
    },
    onClose,
  );
  return (
    <form
      className="form"
      aria-label="Explanation"
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate(text);
      }}
    >
      <ExplanationField value={text} onChange={setText} />
      <Refused asked={saving} />
      <div className="row">
        <button
          type="submit"
          className="btn primary"
          disabled={saving.isPending || text === item.explanation}
        >
          Save
        </button>
        <button type="button" className="btn" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
}
