/** The project as it can be changed: name, guidelines in versions, judgments per comparison. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";

import { isConflict } from "@/api/client";
import { changeProject, projectQuery, projectsQuery } from "@/api/projects";
import type { Project, ProjectChange } from "@/api/types";
import { NameField } from "@/components/form/create-form";
import { GuidelinesText } from "@/components/guidelines";
import { Segmented } from "@/components/segmented";
import { Failure, Loaded } from "@/components/states";
import { JudgmentsFields } from "@/components/form/judgments-fields";

import { CriteriaField, whatIsWrong } from "./criteria-field";
import { ExistingComparisons } from "./existing-comparisons";
import { NewerNote } from "./newer-note";
import { changeOf, isSameWanted, linesOf, type FieldName, type Typed } from "./typed";
import { useTyped, type Newer } from "./use-typed";
import { VersionList } from "./version-list";

export function ProjectTab({ projectId }: { projectId: string }) {
  // Whoever comes back to this tab sees what others saved meanwhile, below what was typed.
  const project = useQuery({ ...projectQuery(projectId), refetchOnWindowFocus: "always" });
  return (
    <Loaded query={project} lines={8}>
      {(found) => (
        <div className="settings-columns">
          <ProjectForm project={found} key={found.id} />
          <VersionList projectId={projectId} />
        </div>
      )}
    </Loaded>
  );
}

interface Sent {
  readonly change: ProjectChange;
  readonly typed: Typed;
}

function useSave(projectId: string, saved: (answer: Project, sent: Typed) => void) {
  const client = useQueryClient();
  const readAgain = () => client.invalidateQueries({ queryKey: ["project", projectId] });
  return useMutation({
    mutationFn: ({ change }: Sent) => changeProject(projectId, change),
    onSuccess: (answer, { typed }) => {
      // First: what is read again is one's own, and no news from somebody else.
      saved(answer, typed);
      return Promise.all([readAgain(), client.invalidateQueries(projectsQuery)]);
    },
    onError: (error) => (isConflict(error) ? readAgain() : undefined),
  });
}

/** What was typed stays until it is saved, and replaces nothing that somebody else saved unseen. */
function ProjectForm({ project }: { project: Project }) {
  const { from, newest, typed, isChanged, newer, set, takeTheirs, saved } = useTyped(project);
  const saving = useSave(project.id, saved);
  const isComplete =
    typed.name.trim() !== "" && areReasons(typed.reasons) && whatIsWrong(typed.criteria) === null;
  const isNewText = typed.guidelines !== newest.guidelines;
  const save = () =>
    saving.mutate({ change: { revision: from.revision, ...changeOf(typed, newest) }, typed });
  const form = useRef<HTMLFormElement>(null);
  const giveUp = (field: FieldName) => {
    // Nothing was saved, and the button that had the focus is gone.
    if (!takeTheirs(field)) saving.reset();
    form.current?.querySelector<HTMLElement>("button[type=submit]")?.focus();
  };
  return (
    <form
      ref={form}
      className="card padded form"
      aria-label="Project"
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged && !saving.isPending) save();
      }}
    >
      <NameField value={typed.name} onChange={(name) => set({ name })} />
      <GuidelinesField
        text={typed.guidelines}
        onChange={(guidelines) => set({ guidelines })}
        isNew={isNewText}
      />
      <JudgmentsFields value={typed} onChange={set} />
      {/* What was asked for was asked by these numbers, and is no answer to others. */}
      <ExistingComparisons
        key={`${newest.each} ${newest.first} ${newest.percent}`}
        projectId={project.id}
        isSaved={isSameWanted(typed, newest)}
      />
      <CriteriaField rows={typed.criteria} onChange={(criteria) => set({ criteria })} />
      <ReasonsField text={typed.reasons} onChange={(reasons) => set({ reasons })} />
      {newer !== null && <NewerNote newer={newer} newest={newest} onTakeTheirs={giveUp} />}
      {newer === null && isChanged && saving.error !== null && <Failure error={saving.error} />}
      <SaveRow
        asked={saving}
        isChanged={isChanged}
        isComplete={isComplete}
        verb={verb(newer, isNewText ? from.guidelines_version + 1 : null)}
      />
    </form>
  );
}

function SaveRow(props: {
  asked: { isPending: boolean; isSuccess: boolean; error: Error | null };
  isChanged: boolean;
  isComplete: boolean;
  verb: string;
}) {
  const { asked, isChanged, isComplete } = props;
  // A conflict that left nothing to send: the server already has all that was typed.
  const isSaved = !isChanged && (asked.isSuccess || isConflict(asked.error));
  return (
    <div className="row">
      {/* Not disabled once it is saved: a disabled button would lose the focus of who pressed it. */}
      <button
        type="submit"
        className="btn primary"
        disabled={!isComplete}
        aria-disabled={asked.isPending || !isChanged}
      >
        {asked.isPending ? "Saving…" : props.verb}
      </button>
      <span className="small muted" role="status">
        {isChanged && !asked.isPending && "Not saved yet."}
        {isSaved && "Saved."}
      </span>
    </div>
  );
}

/** `version`: the one that the guidelines become; null if they stay as they are. */
function verb(newer: Newer | null, version: number | null): string {
  const isReplacing = newer !== null && newer.clashing.length > 0;
  if (version === null) return isReplacing ? "Save mine instead" : "Save";
  return isReplacing ? `Save mine as version ${version}` : `Save as version ${version}`;
}

const MOST_REASONS = 9;

const areReasons = (text: string) => {
  const { length } = linesOf(text);
  return length > 0 && length <= MOST_REASONS;
};

function ReasonsField(props: { text: string; onChange: (text: string) => void }) {
  const id = useId();
  const isWrong = !areReasons(props.text);
  return (
    <div className="field">
      <label htmlFor={id}>Reasons for “cannot judge”, one per line</label>
      <textarea
        id={id}
        className="input"
        rows={5}
        value={props.text}
        aria-invalid={isWrong}
        onChange={(event) => props.onChange(event.target.value)}
      />
      <span className={isWrong ? "wrong" : "hint"}>
        {isWrong
          ? `These are ${linesOf(props.text).length} reasons; write 1 to ${MOST_REASONS}.`
          : "Annotators choose one or more of these by digit: 1 is the first."}
      </span>
    </div>
  );
}

function GuidelinesField(props: {
  text: string;
  onChange: (text: string) => void;
  isNew: boolean;
}) {
  const id = useId();
  const [view, setView] = useState<"write" | "preview">("write");
  return (
    <div className="field">
      <span className="row">
        <label className="label" htmlFor={id}>
          Guidelines for annotators
        </label>
        <span className="grow" />
        <Segmented
          label="Guidelines"
          value={view}
          options={[
            ["write", "Write"],
            ["preview", "Preview"],
          ]}
          onChange={setView}
        />
      </span>
      {view === "write" ? (
        <textarea
          id={id}
          className="input guidelines"
          maxLength={50_000}
          value={props.text}
          placeholder="What makes one response better than another? Markdown works."
          onChange={(event) => props.onChange(event.target.value)}
        />
      ) : (
        <div className="guidelines-preview" id={id}>
          <GuidelinesText text={props.text} />
        </div>
      )}
      <span className="hint">
        {props.isNew
          ? "Saving makes a new version. Annotators read and acknowledge it before their next comparison."
          : "Annotators read and acknowledge each version before they rank."}
      </span>
    </div>
  );
}
