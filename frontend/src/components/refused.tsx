/** Why something that was asked for was not done; trying again asks for the same. */
import { Problem } from "@/api/client";

import { Failure } from "./states";

interface FailedMutation<Input> {
  error: Error | null;
  variables: Input | undefined;
  mutate: (input: Input) => void;
  reset: () => void;
}

export function Refused<Input>({ asked }: { asked: FailedMutation<Input> }) {
  const { error, variables } = asked;
  if (error === null) return null;
  // Where the answer would be the same, all there is to do is to have read it.
  if (variables === undefined || (error instanceof Problem && !error.isPassing))
    return <Failure error={error} onDismiss={asked.reset} />;
  return <Failure error={error} onRetry={() => asked.mutate(variables)} />;
}
