/** What came after its form or page was closed, above whatever page is shown by now. */
import { useEffect } from "react";

import { Problem } from "@/api/client";
import { Icon } from "@/components/icons";
import { Failure } from "@/components/states";
import { dropAllUnseen, dropUnseen, useUnseen, type Unseen } from "@/lib/unseen";

const mayHelp = (error: Error) => !(error instanceof Problem) || error.isPassing;

export function UnseenRefusals() {
  const unseen = useUnseen();
  useEffect(() => dropAllUnseen, []);
  return unseen.map((one, place) => <Note key={`${place} ${one.what}`} one={one} />);
}

function Note({ one }: { one: Unseen }) {
  const { what, error, again } = one;
  if (error === null) return <Done what={what} onDismiss={() => dropUnseen(one)} />;
  return (
    <Failure
      about={what}
      error={error}
      onDismiss={() => dropUnseen(one)}
      {...(again !== null &&
        mayHelp(error) && {
          onRetry: () => {
            dropUnseen(one);
            again();
          },
        })}
    />
  );
}

/** What was not refused, and cannot be shown either. */
const Done = ({ what, onDismiss }: { what: string; onDismiss: () => void }) => (
  <div className="note warn" role="alert">
    <Icon name="alert" />
    <span className="grow">{what}</span>
    <button type="button" className="btn" onClick={onDismiss}>
      Dismiss
    </button>
  </div>
);
