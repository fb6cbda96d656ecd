/** A nested part of a config: open where something is said in it, folded where all is default. */
import { useId, useState, type ReactNode } from "react";

import { valueAt } from "@/features/new-run/config/paths";
import { isObject, type FieldOf } from "@/features/new-run/config/schema";

import { fieldId, useForm, type Form } from "./form-context";

export function Section(props: { field: FieldOf<"section">; path: string; children: ReactNode }) {
  const { field, path } = props;
  const form = useForm();
  const said = valueAt(form.config, path);
  const saidKeys = isObject(said) ? Object.keys(said).length : 0;
  const isOff = field.isNullable && !isObject(said);
  const id = useId();
  const [isOpen, setOpen] = useOpen(path, saidKeys > 0 || field.isRequired);
  const isShown = !isOff && isOpen;
  return (
    <section
      className="part"
      aria-labelledby={id}
      {...(!field.isNullable && { id: fieldId(path), tabIndex: -1 })}
    >
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

/** Whoever folds a section and then follows a link into it wants it open. */
function useOpen(path: string, isSaid: boolean): [boolean, (isOpen: boolean) => void] {
  const { problems, isSearching, asked } = useForm();
  const [chosen, setChosen] = useState<{ isOpen: boolean; asked: Form["asked"] } | null>(null);
  const isInside = (place: string) => place.startsWith(`${path}.`);
  const hasProblem = problems.some((problem) => isInside(problem.path));
  const isLedInto = asked !== null && isInside(asked.place) && chosen?.asked !== asked;
  const isOpen = isLedInto || (chosen?.isOpen ?? (isSearching || hasProblem || isSaid));
  return [isOpen, (next) => setChosen({ isOpen: next, asked })];
}
