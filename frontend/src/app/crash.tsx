/** What is shown where a page broke or an address leads nowhere. */
import { Link, useRouteError } from "react-router";

import { Empty, Failure } from "@/components/states";

export function Crash() {
  const error = useRouteError();
  return (
    <main className="page">
      <Failure error={error} onRetry={() => window.location.reload()} />
    </main>
  );
}

export function NotFound() {
  return (
    <main className="page">
      <Empty
        icon="search"
        title="There is no such page"
        actions={
          <Link className="btn" to="/">
            Go to the start
          </Link>
        }
      >
        The address may be old, or the thing it names may have been archived.
      </Empty>
    </main>
  );
}
