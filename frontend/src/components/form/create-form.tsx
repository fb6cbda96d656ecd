/** A form that makes one thing: the fields are the caller's; sending, its error and its button are here. */
import { useQueryClient, type QueryKey } from "@tanstack/react-query";
import { useId, type ReactNode } from "react";

import { Dialog } from "../dialog";
import { Failure } from "../states";
import { Field } from "./field";
import { useSending } from "./use-sending";

export function CreateForm<Made>(props: {
  create: () => Promise<Made>;
  /** A sentence, such as "The snapshot was not frozen.": said if the form is gone by then. */
  notDone: string;
  /** The list that has one more afterwards. */
  list: QueryKey;
  /** Also called when the form is gone by then, such as by Escape: as it was when it was sent. */
  onMade?: (made: Made) => unknown;
  /** The button's words. */
  verb: ReactNode;
  verbWhileSending?: string;
  isComplete: boolean;
  /** In a dialog, which closes when the thing is made; without, the form stands in the page. */
  dialog?: { title: string; onClose: () => void };
  children: ReactNode;
}) {
  const id = useId();
  const client = useQueryClient();
  const sending = useSending<Made, typeof props.onMade>(
    props.notDone,
    {
      mutationFn: props.create,
      onSuccess: async (made, onMade) => {
        await client.invalidateQueries({ queryKey: props.list });
        await onMade?.(made);
      },
    },
    () => props.dialog?.onClose(),
  );
  const form = (
    <form
      id={id}
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        sending.mutate(props.onMade);
      }}
    >
      {props.children}
      {sending.error !== null && <Failure error={sending.error} />}
    </form>
  );
  const button = (
    <button
      type="submit"
      form={id}
      className="btn primary"
      disabled={sending.isPending || !props.isComplete}
    >
      {sending.isPending ? (props.verbWhileSending ?? props.verb) : props.verb}
    </button>
  );
  if (props.dialog !== undefined)
    return (
      <Dialog {...props.dialog} footer={button}>
        {form}
      </Dialog>
    );
  return (
    <div className="stack">
      {form}
      <div className="row">{button}</div>
    </div>
  );
}

export function NameField(props: {
  value: string;
  onChange: (name: string) => void;
  placeholder?: string;
}) {
  return (
    <Field label="Name">
      {(control) => (
        <input
          {...control}
          className="input"
          required
          maxLength={200}
          value={props.value}
          placeholder={props.placeholder}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
