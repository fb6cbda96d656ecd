/** What was refused after its form was closed, above whatever page is shown by now. */
import { useEffect } from "react";

import { Problem } from "@/api/client";
import { Failure } from "@/components/states";
import { dropAllUnseen, dropUnseen, useUnseen } from "@/lib/unseen";

const mayHelp = (error: Error) => !(error instanceof Problem) || error.isPassing;

export function UnseenRefusals() {
  const unseen = useUnseen();
  useEffect(() => dropAllUnseen, []);
  return unseen.map((one, place) => (
    <Failure
      key={`${place} ${one.what}`}
      about={one.what}
      error={one.error}
      onDismiss={() => dropUnseen(one)}
      {...(mayHelp(one.error) && {
        onRetry: () => {
          dropUnseen(one);
          one.again();
        },
      })}
    />
  ));
}
