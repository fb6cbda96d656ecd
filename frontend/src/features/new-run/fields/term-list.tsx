/** A list of parts, such as the terms of a reward, which have kinds, or evaluation sets, which have none. */
import { useId, type ReactNode } from "react";

import { Icon } from "@/components/icons";
import { keepFocus } from "@/components/focus/kept-focus";
import { Sentence } from "@/components/text/sentence";
import { newItem } from "@/features/new-run/config/initial-config";
import { valueAt } from "@/features/new-run/config/paths";
import {
  variantOf,
  type Field,
  type FieldOf,
  type Variant,
} from "@/features/new-run/config/schema";

import { fieldId, isMissing, useForm } from "./form-context";

export function TermList(props: {
  field: FieldOf<"list">;
  path: string;
  renderFields: (fields: readonly Field[], prefix: string) => ReactNode;
}) {
  const { field, path } = props;
  const form = useForm();
  const id = useId();
  const said = valueAt(form.config, path);
  const items = Array.isArray(said) ? said : [];
  const own = form.problems.filter(
    (problem) => problem.path === path && (form.isAttempted || !isMissing(problem)),
  );
  const add = (variant: Variant) =>
    form.change(path, [...items, newItem(variant, form.candidates)]);
  return (
    <section
      className="part"
      aria-labelledby={id}
      aria-describedby={own.map((_, at) => `${id}-problem-${at}`).join(" ") || undefined}
      id={fieldId(path)}
      tabIndex={-1}
      ref={keepFocus}
    >
      <header>
        <div className="grow">
          <h3 id={id} className="mono">
            {field.name}
          </h3>
          <p className="hint">{field.description}</p>
        </div>
      </header>
      {own.map((problem, at) => (
        <p key={problem.message} id={`${id}-problem-${at}`} className="error small">
          {problem.message}
        </p>
      ))}
      <ol className="terms">
        {items.map((item, place) => {
          const variant = variantOf(field, item);
          const name = variant?.name ?? "unknown kind";
          return (
            // Items have no id of their own; their place and kind are what they are.
            <li key={`${place}-${variant?.kind ?? ""}`}>
              <header>
                <b className="mono">{variant?.kind === "" ? `${name} ${place + 1}` : name}</b>
                <span className="hint grow">
                  <Sentence text={variant?.description ?? ""} />
                </span>
                <button
                  type="button"
                  className="btn ghost icon"
                  aria-label={`Remove ${name}, item ${place + 1} of ${path}`}
                  onClick={() => form.change(`${path}.${place}`, undefined)}
                >
                  <Icon name="close" />
                </button>
              </header>
              {props.renderFields(variant?.fields ?? [], `${path}.${place}.`)}
            </li>
          );
        })}
      </ol>
      {items.length < field.most && (
        <div className="row add-terms">
          <span className="small muted">Add</span>
          {field.variants.map((variant) => (
            <button
              type="button"
              key={variant.kind}
              className="btn"
              title={variant.description}
              aria-label={`Add ${variant.name} to ${path}`}
              onClick={() => add(variant)}
            >
              <Icon name="plus" /> {variant.name}
            </button>
          ))}
        </div>
      )}
    </section>
  );
}
