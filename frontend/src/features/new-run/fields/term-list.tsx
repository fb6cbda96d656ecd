/** A list of parts of different kinds, such as the terms of a reward. */
import { useId, type ReactNode } from "react";

import { Icon } from "@/components/icons";
import { newItem } from "@/features/new-run/config/initial-config";
import { valueAt } from "@/features/new-run/config/paths";
import { isObject, type Field, type FieldOf } from "@/features/new-run/config/schema";

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
  const add = (kind: string) => {
    const variant = field.variants.find((one) => one.kind === kind);
    form.change(path, [...items, newItem(kind, variant?.fields ?? [], form.candidates)]);
  };
  return (
    <section className="part" aria-labelledby={id} id={fieldId(path)} tabIndex={-1}>
      <header>
        <div className="grow">
          <h3 id={id} className="mono">
            {field.name}
          </h3>
          <p className="hint">{field.description}</p>
        </div>
      </header>
      {own.map((problem) => (
        <p key={problem.message} className="error small">
          {problem.message}
        </p>
      ))}
      <ol className="terms">
        {items.map((item, place) => {
          const kind = isObject(item) && typeof item["kind"] === "string" ? item["kind"] : "";
          const variant = field.variants.find((one) => one.kind === kind);
          return (
            // Terms have no name of their own; their place and kind are what they are.
            <li key={`${place}-${kind}`}>
              <header>
                <b className="mono">{kind || "unknown kind"}</b>
                <span className="hint grow">{variant?.description ?? ""}</span>
                <button
                  type="button"
                  className="btn ghost icon"
                  aria-label={`Remove term ${place + 1}, ${kind}`}
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
          {field.variants.map(({ kind, description }) => (
            <button
              type="button"
              key={kind}
              className="btn"
              title={description}
              onClick={() => add(kind)}
            >
              <Icon name="plus" /> {kind}
            </button>
          ))}
        </div>
      )}
    </section>
  );
}
