/** A control with its label above it, and below it a hint or what is wrong with what was typed. */
import { useId, type ReactNode } from "react";

/** What ties the control to its label and to the words below it. */
export interface Tied {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": true | undefined;
}

export function Field(props: {
  label: string;
  hint?: string | undefined;
  wrong?: string | undefined;
  /** The control, with these attributes. */
  children: (tied: Tied) => ReactNode;
}) {
  const { label, hint, wrong } = props;
  const id = useId();
  const said = wrong ?? hint;
  const tied: Tied = {
    id,
    "aria-describedby": said === undefined ? undefined : `${id}-said`,
    "aria-invalid": wrong === undefined ? undefined : true,
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {props.children(tied)}
      {said !== undefined && (
        <span id={`${id}-said`} className={wrong === undefined ? "hint" : "wrong"}>
          {said}
        </span>
      )}
    </div>
  );
}
