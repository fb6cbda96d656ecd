/** The pages of a project, of which everybody opens those of their role; the first is their home. */
import { useQuery } from "@tanstack/react-query";
import { Outlet, useLocation } from "react-router";

import { managesIn, meQuery, roleIn } from "@/api/session";
import { Redirect } from "@/components/redirect/redirect";
import { useProjectId } from "@/lib/address/use-project";

import { NotFound } from "./crash";
import { NAV_PAGES, pagesFor, type NavPage } from "./nav-pages";

export function ProjectPages() {
  const projectId = useProjectId();
  const { pathname } = useLocation();
  const me = useQuery(meQuery);
  if (me.data === undefined) return null; // The shell waits for it.
  const pages = pagesFor(roleIn(me.data, projectId));
  const home = pages[0];
  if (home === undefined) return <NotFound />;
  const place = pathname.split("/")[3] ?? "";
  const isHere = (page: NavPage) => page.path === place;
  const isForOthers = NAV_PAGES.some(isHere) && !pages.some(isHere);
  if (place === "" || isForOthers) return <Redirect to={`/projects/${projectId}/${home.path}`} />;
  const isNewRun = pathname.split("/").slice(3, 5).join("/") === "runs/new";
  // The form would ask them for all settings only to be refused.
  if (isNewRun && !managesIn(me.data, projectId))
    return <Redirect to={`/projects/${projectId}/runs`} />;
  return <Outlet />;
}
