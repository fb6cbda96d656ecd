/** What is shown where a page broke or an address leads nowhere. */
import { Link, useRouteError } from "react-router";

import { Empty, Failure } from "@/components/states";

export function Crash() {
  const error = useRouteError();
  return (
    <div className="page">
      <Failure error={error} onRetry={() => window.location.reload()} />
    </div>
  );
}

export function NotFound() {
  return (
    <div className="page">
      <h1 className="sr-only">Not found</h1>
      <Empty
        icon="search"
        title="There is no such page"
        actions={
          <Link className="btn" to="/">
            Go to the home page
          </Link>
        }
      >
        Check the address, or open a page from the menu.
      </Empty>
    </div>
  );
}
