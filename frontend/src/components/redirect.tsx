/** An address that only leads to another one. */
import { Navigate, useNavigation } from "react-router";

import { Skeleton } from "./states";

/**
 * Goes to `to`, unless the person has already clicked a link: the router follows the last navigation
 * alone, and while the page behind a link loads, this one would win over the click.
 */
export function Redirect({ to }: { to: string }) {
  const isElsewhere = useNavigation().state !== "idle";
  return isElsewhere ? <Skeleton lines={6} /> : <Navigate to={to} replace />;
}
