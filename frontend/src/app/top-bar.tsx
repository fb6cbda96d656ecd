/** Where one is (project, page), search, theme, and who is signed in. */
import { useQuery } from "@tanstack/react-query";
import { useState, type KeyboardEvent } from "react";
import { Link, useLocation, useParams } from "react-router";

import { projectsQuery } from "@/api/projects";
import { createsProjects } from "@/api/session";
import type { User } from "@/api/types";
import { Icon, type IconName } from "@/components/icons";
import { chooseTheme, useThemeChoice, type Choice } from "@/lib/theme";
import { useGo } from "@/lib/address/use-go";

import { ProjectForm } from "./first-project";
import { LostConnection } from "./lost-connection";
import { SignOut } from "./sign-out";

const NEXT: Readonly<Record<Choice, readonly [Choice, IconName, string]>> = {
  system: ["light", "system", "system"],
  light: ["dark", "sun", "light"],
  dark: ["system", "moon", "dark"],
};

function ThemeButton() {
  const choice = useThemeChoice();
  const [next, icon, name] = NEXT[choice];
  return (
    <button
      type="button"
      className="btn ghost icon"
      aria-label={`Theme: ${name}. Change to ${NEXT[next][2]}`}
      title={`Theme: ${name}`}
      onClick={() => chooseTheme(next)}
    >
      <Icon name={icon} />
    </button>
  );
}

const NEW = "new";

const CHANGES = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"]);
const canOpen = () =>
  "showPicker" in HTMLSelectElement.prototype && CSS.supports("selector(:open)");

/**
 * On Windows and Linux a key changes a closed select, and each change would lead to another project:
 * here such a key opens the list, in which Enter chooses.
 */
function openByKey(event: KeyboardEvent<HTMLSelectElement>): void {
  const select = event.currentTarget;
  const { key, ctrlKey, metaKey, altKey } = event;
  if (ctrlKey || metaKey || altKey || !(CHANGES.has(key) || /^[^ ]$/u.test(key))) return;
  if (!canOpen() || select.matches(":open")) return;
  event.preventDefault();
  try {
    select.showPicker();
  } catch {
    // Not allowed in a frame of another site.
  }
}

function ProjectSwitcher({ user }: { user: User }) {
  const { projectId } = useParams();
  const { pathname } = useLocation();
  const go = useGo();
  const projects = useQuery(projectsQuery);
  const [isCreating, setCreating] = useState(false);
  const place = pathname.split("/")[3] ?? "";
  if (projects.data === undefined || projectId === undefined) return null;
  const here = projects.data.items.find(({ id }) => id === projectId);
  return (
    <>
      {/* A select is as wide as its longest option; so it lies, unseen, over the name it chose. */}
      <span className="switcher">
        <span className="clip" aria-hidden="true">
          {here?.name ?? "Project"}
        </span>
        <Icon name="down" />
        <select
          aria-label="Project"
          value={projectId}
          onKeyDown={openByKey}
          onChange={(event) => {
            const chosen = event.target.value;
            if (chosen === NEW) setCreating(true);
            else void go(`/projects/${chosen}/${place}`);
          }}
        >
          {projects.data.items.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
          {createsProjects(user) && <option value={NEW}>New project…</option>}
        </select>
      </span>
      {isCreating && <ProjectForm onClose={() => setCreating(false)} />}
    </>
  );
}

export function TopBar(props: { user: User; onSearch: () => void }) {
  return (
    <header className="top">
      <ProjectSwitcher user={props.user} />
      <span className="grow" />
      <LostConnection />
      <button
        type="button"
        className="btn ghost"
        aria-label="Search Ctrl K"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={props.onSearch}
      >
        <Icon name="search" />
        <span className="wide">Search</span> <kbd className="wide">Ctrl K</kbd>
      </button>
      <ThemeButton />
      <span className="row who">
        <Link
          className="btn ghost account"
          to="/account"
          title={`${props.user.name}: your account`}
        >
          <Icon name="user" /> <span className="clip">{props.user.name}</span>
        </Link>
        <SignOut user={props.user} />
      </span>
    </header>
  );
}
