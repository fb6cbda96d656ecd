/** Asks the API, a moment after the last change, whether the run could be created as it stands. */
import { useEffect, useState } from "react";

import { validateRun } from "@/api/runs";
import type { RunBody, Validation } from "@/api/types";

const QUIET_MS = 350;

export interface LiveValidation {
  readonly answer: Validation | null;
  readonly error: unknown;
  readonly isAsking: boolean;
}

export function useValidation(body: RunBody): LiveValidation {
  const [state, setState] = useState<LiveValidation>({ answer: null, error: null, isAsking: true });
  const asked = JSON.stringify(body);
  useEffect(() => {
    const control = new AbortController();
    const timer = setTimeout(() => {
      setState((now) => ({ ...now, isAsking: true }));
      validateRun(JSON.parse(asked) as RunBody, control.signal)
        .then((answer) => setState({ answer, error: null, isAsking: false }))
        .catch((error: unknown) => {
          if (!control.signal.aborted) setState({ answer: null, error, isAsking: false });
        });
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [asked]);
  return state;
}
