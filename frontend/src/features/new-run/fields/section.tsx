/** A nested part of a config: open where something is said in it, folded where all is default. */
import { useId, useState, type ReactNode } from "react";

import { valueAt } from "@/features/new-run/config/paths";
import { isObject, type FieldOf } from "@/features/new-run/config/schema";

import { fieldId, useForm } from "./form-context";

export function Section(props: { field: FieldOf<"section">; path: string; children: ReactNode }) {
  const { field, path } = props;
  const form = useForm();
  const said = valueAt(form.config, path);
  const saidKeys = isObject(said) ? Object.keys(said).length : 0;
  const isOff = field.isNullable && !isObject(said);
  const hasProblem = form.problems.some((problem) => problem.path.startsWith(`${path}.`));
  const [isOpen, setOpen] = useState<boolean | null>(null);
  const id = useId();
  const isOpenAtFirst = form.isSearching || saidKeys > 0 || field.isRequired || hasProblem;
  const isShown = !isOff && (isOpen ?? isOpenAtFirst);
  return (
    <section className="part" aria-labelledby={id}>
      <header>
        <div className="grow">
          <h3 id={id} className="mono">
            {field.name}
          </h3>
          <p className="hint">{field.description}</p>
        </div>
        {field.isNullable && (
          <label className="check">
            <input
              id={fieldId(path)}
              type="checkbox"
              checked={!isOff}
              onChange={(event) => form.change(path, event.target.checked ? {} : undefined)}
            />
            use {field.name}
          </label>
        )}
        {!isOff && (
          <button
            type="button"
            className="btn ghost"
            aria-expanded={isShown}
            onClick={() => setOpen(!isShown)}
          >
            <span className="sr-only">{field.name}: </span>
            {isShown ? "Hide" : saidKeys > 0 ? `Show (${saidKeys} set)` : "Show (all defaults)"}
          </button>
        )}
      </header>
      {isShown && props.children}
    </section>
  );
}
