/** A control with its label above it, and below it a hint or what is wrong with what was typed. */
import { useId, type ReactNode } from "react";

export function Field(props: {
  label: string;
  hint?: string | undefined;
  wrong?: string | undefined;
  /** The control; it has this id, so that the label names it. */
  children: (id: string) => ReactNode;
}) {
  const { label, hint, wrong } = props;
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {props.children(id)}
      {wrong !== undefined && <span className="wrong">{wrong}</span>}
      {wrong === undefined && hint !== undefined && <span className="hint">{hint}</span>}
    </div>
  );
}
