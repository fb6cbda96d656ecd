/** The project as it can be changed: name, guidelines in versions, judgments per comparison. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";

import { changeProject, projectQuery, projectsQuery } from "@/api/projects";
import type { Criterion, Project, ProjectChange } from "@/api/types";
import { NameField } from "@/components/form/create-form";
import { GuidelinesText } from "@/components/guidelines";
import { Segmented } from "@/components/segmented";
import { Failure, Loaded } from "@/components/states";
import { JudgmentsFields, settingsOf, wantedFrom } from "@/components/form/judgments-fields";

import { CriteriaField, criteriaOf, whatIsWrong } from "./criteria-field";
import { VersionList } from "./version-list";

export function ProjectTab({ projectId }: { projectId: string }) {
  const project = useQuery({ ...projectQuery(projectId), refetchOnWindowFocus: false });
  return (
    <Loaded query={project} lines={8}>
      {(found) => (
        <div className="settings-columns">
          <ProjectForm project={found} />
          <VersionList projectId={projectId} />
        </div>
      )}
    </Loaded>
  );
}

function useSave(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: ProjectChange) => changeProject(projectId, change),
    onSuccess: async () => {
      await Promise.all([
        client.invalidateQueries({ queryKey: ["project", projectId] }),
        client.invalidateQueries(projectsQuery),
      ]);
    },
  });
}

/** What was typed stays until it is saved, also when somebody else has saved meanwhile. */
function ProjectForm({ project }: { project: Project }) {
  const [name, setName] = useState(project.name);
  const [guidelines, setGuidelines] = useState(project.guidelines);
  // The version that the text on screen was made from.
  const [version, setVersion] = useState(project.guidelines_version);
  const [wanted, setWanted] = useState(wantedFrom(project));
  const [reasons, setReasons] = useState(project.cannot_judge_reasons.join("\n"));
  const [criteria, setCriteria] = useState<readonly Criterion[]>(project.criteria);
  const saving = useSave(project.id);
  const isComplete = name.trim() !== "" && areReasons(reasons) && whatIsWrong(criteria) === null;
  const isNewText = guidelines !== project.guidelines;
  const save = () =>
    saving.mutate(
      {
        name: name.trim(),
        ...settingsOf(wanted),
        cannot_judge_reasons: linesOf(reasons),
        criteria: criteriaOf(criteria),
        ...(isNewText ? { guidelines, guidelines_version: version } : {}),
      },
      { onSuccess: (saved) => setVersion(saved.guidelines_version) },
    );
  return (
    <form
      className="card padded form"
      aria-label="Project"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <NameField value={name} onChange={setName} />
      <GuidelinesField text={guidelines} onChange={setGuidelines} isNew={isNewText} />
      <JudgmentsFields value={wanted} onChange={setWanted} />
      <p className="small muted">
        This applies to new comparisons; existing ones need as many judgments as before.
      </p>
      <CriteriaField rows={criteria} onChange={setCriteria} />
      <ReasonsField text={reasons} onChange={setReasons} />
      {saving.error !== null && <Failure error={saving.error} />}
      <div className="row">
        <button type="submit" className="btn primary" disabled={saving.isPending || !isComplete}>
          {saving.isPending ? "Saving…" : isNewText ? `Save as version ${version + 1}` : "Save"}
        </button>
        <span className="small muted" role="status">
          {saving.isSuccess && !isNewText && "Saved."}
        </span>
      </div>
    </form>
  );
}

const MOST_REASONS = 9;

const linesOf = (text: string) =>
  [...new Set(text.split("\n").map((line) => line.trim()))].filter((line) => line !== "");

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
