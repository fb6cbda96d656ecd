/** A dialog with secrets that nobody can see again: it stays until they are copied, or until Done. */
import { useState, type ReactNode } from "react";

import { Dialog } from "@/components/dialog";

export function ShownOnce(props: {
  title: string;
  /** Said to whoever would close it too early. */
  first: string;
  isCopied: boolean;
  className?: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const { isCopied, onClose } = props;
  const [isAsked, setAsked] = useState(false);
  return (
    <Dialog
      title={props.title}
      onClose={isCopied ? onClose : () => setAsked(true)}
      {...(props.className === undefined ? {} : { className: props.className })}
      footer={
        <>
          {/* Always there: a status that comes together with its text is not read. */}
          <span className="grow" role="status">
            {isAsked && !isCopied && props.first}
          </span>
          <button type="button" className="btn primary" onClick={onClose}>
            Done
          </button>
        </>
      }
    >
      {props.children}
    </Dialog>
  );
}
