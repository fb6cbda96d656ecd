/** Why something that was asked for was not done; trying again asks for the same. */
import { Problem } from "@/api/client";

import { Failure } from "./states";

interface Asked<Wish> {
  error: Error | null;
  variables: Wish | undefined;
  mutate: (wish: Wish) => void;
  reset: () => void;
}

export function Refused<Wish>({ asked }: { asked: Asked<Wish> }) {
  const { error, variables } = asked;
  if (error === null) return null;
  // Where the answer would be the same, all there is to do is to have read it.
  if (variables === undefined || (error instanceof Problem && !error.isPassing))
    return <Failure error={error} onDismiss={asked.reset} />;
  return <Failure error={error} onRetry={() => asked.mutate(variables)} />;
}
