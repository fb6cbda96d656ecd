/** Ctrl/Cmd-K: pages, runs, experiments, models, projects and a few actions, found by typing part of a name. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { useParams } from "react-router";

import { experimentsQuery } from "@/api/experiments";
import { modelsOf } from "@/api/models";
import { projectsQuery } from "@/api/projects";
import { runsQuery } from "@/api/runs";
import { managesIn, roleIn } from "@/api/session";
import type { User } from "@/api/types";
import { Icon, type IconName } from "@/components/icons";
import { chooseTheme } from "@/lib/theme";
import { useBackdrop } from "@/lib/use-backdrop";
import { useGo } from "@/lib/address/use-go";

import { pagesFor } from "../nav-pages";
import { found, neighbour, type Named } from "./search";

const MOST_RUNS = 100;
const SEARCHED_WITHOUT_RUNS = "Search pages, projects, actions";
const NOTHING = "No page, project or action matches.";
const NO_RUN = `No page, experiment, model, project or action matches, and none of the newest ${MOST_RUNS} runs. The Runs page lists all runs.`;

const PARTLY = "Nothing that could be loaded matches; some lists could not be loaded.";

interface Entry extends Named {
  readonly icon: IconName;
  readonly kind: string;
  readonly run: () => void;
}

/** `isWhole`: no list has failed. */
interface Entries {
  readonly entries: readonly Entry[];
  readonly isLoaded: boolean;
  readonly isWhole: boolean;
  /** Whether runs, experiments and models are searched. */
  readonly hasRuns: boolean;
}

function nothingIn({ isWhole, hasRuns }: Entries): string {
  if (!isWhole) return PARTLY;
  return hasRuns ? NO_RUN : NOTHING;
}

function useEntries(user: User): Entries {
  const { projectId } = useParams();
  const goTo = useGo();
  const pages = projectId === undefined ? [] : pagesFor(roleIn(user, projectId));
  const sees = (path: string) => pages.some((page) => page.path === path);
  const runs = useQuery({
    ...runsQuery({ project_id: projectId, limit: MOST_RUNS }),
    enabled: sees("runs"),
  });
  const experiments = useQuery({
    ...experimentsQuery(projectId ?? ""),
    enabled: sees("experiments"),
  });
  const models = useQuery({ ...modelsOf(projectId ?? ""), enabled: sees("models") });
  const projects = useQuery(projectsQuery);
  const base = `/projects/${projectId ?? ""}`;
  const go = (to: string) => () => void goTo(to);
  const here: Entry[] = pages.map(({ path, label, icon }) => ({
    id: path,
    icon,
    text: label,
    kind: "page",
    run: go(`${base}/${path}`),
  }));
  if (projectId !== undefined && managesIn(user, projectId))
    here.push({
      id: "new",
      icon: "plus",
      text: "New run",
      kind: "action",
      run: go(`${base}/runs/new`),
    });
  const theme = (text: string, icon: IconName, choice: "light" | "dark" | "system"): Entry => ({
    id: `theme-${choice}`,
    icon,
    text,
    kind: "action",
    run: () => chooseTheme(choice),
  });
  const entries: readonly Entry[] = [
    ...here,
    ...(runs.data?.items ?? []).map((run): Entry => ({
      id: run.id,
      icon: "runs",
      text: run.name,
      kind: `run, ${run.state}`,
      run: go(`${base}/runs/${run.id}`),
    })),
    ...(experiments.data?.items ?? []).map((experiment): Entry => ({
      id: experiment.id,
      icon: "experiments",
      text: experiment.name,
      kind: "experiment",
      run: go(`${base}/experiments/${experiment.id}`),
    })),
    ...(models.data?.items ?? []).map((model): Entry => ({
      id: model.id,
      icon: "models",
      text: model.name,
      kind: "model",
      run: go(`${base}/models/${model.id}`),
    })),
    ...(projects.data?.items ?? []).map((project): Entry => ({
      id: project.id,
      icon: "data",
      text: project.name,
      kind: "project",
      run: go(`/projects/${project.id}`),
    })),
    { id: "account", icon: "user", text: "Your account", kind: "page", run: go("/account") },
    theme("Light theme", "sun", "light"),
    theme("Dark theme", "moon", "dark"),
    theme("System theme", "system", "system"),
  ];
  const lists = [runs, experiments, models, projects];
  return {
    entries,
    isLoaded: !lists.some((one) => one.isLoading),
    isWhole: !lists.some((one) => one.isError),
    hasRuns: sees("runs"),
  };
}

const optionId = ({ id }: Entry) => `palette-${id}`;

export function Palette({ user, onClose }: { user: User; onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  const backdrop = useBackdrop(ref, onClose);
  const [query, setQuery] = useState("");
  // Not its place: a run that comes in meanwhile moves the others.
  const [chosenId, setChosenId] = useState<string | null>(null);
  const all = useEntries(user);
  const entries = found(all.entries, query, chosenId);
  const first = entries[0];
  if (chosenId === null && first !== undefined && all.isLoaded) setChosenId(first.id);
  const chosen = chosenId === null ? first : entries.find(({ id }) => id === chosenId);
  useEffect(() => {
    const element = ref.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  const chosenOption = chosen === undefined ? null : optionId(chosen);
  useEffect(() => {
    const option = chosenOption === null ? null : document.getElementById(chosenOption);
    option?.scrollIntoView({ block: "nearest" });
  }, [chosenOption]);
  const choose = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setChosenId(neighbour(entries, chosen?.id ?? null, step));
    }
    if (event.key === "Enter") choose(chosen);
  };
  return (
    <dialog
      ref={ref}
      className="palette"
      aria-label={all.hasRuns ? "Search pages, runs and actions" : SEARCHED_WITHOUT_RUNS}
      onCancel={onClose}
      {...backdrop}
    >
      <div className="query">
        <Icon name="search" />
        <input
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={chosenOption ?? undefined}
          aria-label="Search"
          placeholder={
            all.hasRuns ? "Search pages, runs, experiments, models, actions" : SEARCHED_WITHOUT_RUNS
          }
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            setChosenId(null);
          }}
          onKeyDown={onKey}
        />
        <kbd>Esc</kbd>
      </div>
      <ul id="palette-list" role="listbox" aria-label="Results">
        {entries.map((entry) => (
          <li
            key={entry.id}
            id={optionId(entry)}
            role="option"
            aria-selected={entry === chosen}
            onClick={() => choose(entry)}
          >
            <Icon name={entry.icon} />
            <span className="clip">{entry.text}</span>
            <span className="small faint">{entry.kind}</span>
          </li>
        ))}
      </ul>
      {/* Always there: a status that comes together with its text is not read. */}
      <p className="nothing faint" role="status">
        {entries.length === 0 && (all.isLoaded ? nothingIn(all) : "Looking…")}
      </p>
    </dialog>
  );
}
