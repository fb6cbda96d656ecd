/** The frame around every page: rail, top bar, palette, and what happens when the session ends. */
import "./shell.css";

import { useQuery } from "@tanstack/react-query";
import { Suspense, useEffect, useState } from "react";
import { NavLink, Outlet, useLocation, useParams } from "react-router";

import { Problem } from "@/api/client";
import { Redirect } from "@/components/redirect/redirect";
import { useLostConnection } from "@/lib/reachable";
import { meQuery, roleIn } from "@/api/session";
import type { User } from "@/api/types";
import { Icon } from "@/components/icons";
import { NoAnswer, Skeleton } from "@/components/states";
import { isText, read, write } from "@/lib/storage";

import { PageChange } from "./page-change";
import { Palette } from "./palette/palette";
import { railFor } from "./nav-pages";
import { LAST_PROJECT } from "./redirects";
import { SignedOut } from "./signed-out";
import { TopBar } from "./top-bar";
import { UnseenRefusals } from "./unseen-refusals";
import { UnsentElsewhere } from "./unsent/unsent-elsewhere";

function Rail({ projectId, user }: { projectId: string | undefined; user: User }) {
  const pages = projectId === undefined ? [] : railFor(roleIn(user, projectId));
  return (
    <nav className="rail" aria-label="Main">
      <NavLink className="logo" to="/" aria-label="Podium home">
        <Icon name="logo" />
      </NavLink>
      {pages.map(({ path, label, icon }) => (
        <NavLink key={path} to={`/projects/${projectId ?? ""}/${path}`}>
          <Icon name={icon} />
          <span>{label}</span>
        </NavLink>
      ))}
    </nav>
  );
}

function usePaletteKey(open: () => void) {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      open();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [open]);
}

const ASK_AGAIN_MS = 3000;

const isRefused = (error: unknown) => error instanceof Problem && error.status === 401;

export function Shell() {
  const { projectId } = useParams();
  const { pathname, search } = useLocation();
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const isLost = useLostConnection() !== null;
  // In a shared browser somebody else may have signed in meanwhile.
  const me = useQuery({
    ...meQuery,
    refetchOnWindowFocus: "always",
    // A session or a connection that came back ends its note without a click.
    refetchInterval: ({ state }) => (isRefused(state.error) || isLost ? ASK_AGAIN_MS : false),
  });
  usePaletteKey(() => setPaletteOpen(true));
  useEffect(() => {
    if (projectId !== undefined) write(localStorage, LAST_PROJECT, projectId);
  }, [projectId]);

  const isSignedOut = isRefused(me.error);
  if (isSignedOut && me.data === undefined)
    return (
      <main className="page">
        <Redirect to={`/sign-in?next=${encodeURIComponent(pathname + search)}`} />
      </main>
    );
  if (me.data === undefined)
    return (
      <main className="page">
        {me.error === null ? <Skeleton lines={6} /> : <NoAnswer query={me} />}
      </main>
    );
  return (
    <div className="app">
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      {/* A page of no project, such as one's account, leads back to the last one. */}
      <Rail
        projectId={projectId ?? read(localStorage, LAST_PROJECT, isText) ?? undefined}
        user={me.data}
      />
      <PageChange />
      <div className="column">
        <TopBar user={me.data} onSearch={() => setPaletteOpen(true)} />
        {isSignedOut && <SignedOut user={me.data} />}
        <UnseenRefusals key={me.data.id} />
        <UnsentElsewhere userId={me.data.id} />
        <main id="main" tabIndex={-1}>
          <Suspense fallback={<Skeleton lines={6} />}>
            <Outlet />
          </Suspense>
        </main>
      </div>
      {isPaletteOpen && <Palette user={me.data} onClose={() => setPaletteOpen(false)} />}
    </div>
  );
}
