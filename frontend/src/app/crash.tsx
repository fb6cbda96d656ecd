/** What is shown where a page broke or an address leads nowhere. */
import { useMutation } from "@tanstack/react-query";
import { Link, useRouteError } from "react-router";

import { PageTitle } from "@/components/page-title";
import { Empty, Failure } from "@/components/states";

import { shownError } from "./loading/shown-error";

/**
 * Only a new document has new code: router and browser remember code that did not come, and after an
 * update that of this one is gone. But a reload without an answer would lose the whole tab.
 */
async function reloadIfAnswered(): Promise<void> {
  const answer = await fetch(window.location.href, { cache: "no-store" });
  if (!answer.ok) throw new Error(`HTTP status ${answer.status}`);
  window.location.reload();
}

export function Crash() {
  const error = useRouteError();
  const reload = useMutation({ mutationFn: reloadIfAnswered });
  return (
    <div className="page">
      <div className="stack">
        <Failure error={shownError(error)} onRetry={() => reload.mutate()} />
        <p className="small muted" role="status">
          {reload.isPending && "Asking Podium…"}
          {reload.isError && "Podium does not answer yet, so this tab was not reloaded."}
        </p>
      </div>
    </div>
  );
}

export function NotFound() {
  return (
    <div className="page">
      <PageTitle>Not found</PageTitle>
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
