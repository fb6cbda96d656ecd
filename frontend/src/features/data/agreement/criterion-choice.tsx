/** Whose rankings are meant, in a project that ranks by criteria; nothing in any other. */
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";

import { projectQuery } from "@/api/projects";

export function CriterionChoice(props: {
  projectId: string;
  /** A name, "" for judgments that were given without criteria, null for the first. */
  value: string | null;
  onChange: (criterion: string) => void;
}) {
  const id = useId();
  const criteria = useQuery(projectQuery(props.projectId)).data?.criteria ?? [];
  if (criteria.length === 0) return null;
  return (
    <div className="field">
      <label htmlFor={id}>Criterion</label>
      <select
        id={id}
        className="input"
        value={props.value ?? criteria[0]?.name}
        onChange={(event) => props.onChange(event.target.value)}
      >
        {criteria.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
        <option value="">judged without criteria</option>
      </select>
    </div>
  );
}
