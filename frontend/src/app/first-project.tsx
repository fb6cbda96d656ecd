/** The form for a new project: the first thing to do on an empty installation. */
import { useId, useState } from "react";
import { useNavigate } from "react-router";

import { createProject, projectsQuery } from "@/api/projects";
import { CreateForm, NameField } from "@/components/create-form";

export function ProjectForm({ onClose }: { onClose?: () => void }) {
  const [name, setName] = useState("");
  const [guidelines, setGuidelines] = useState("");
  const id = useId();
  const navigate = useNavigate();
  return (
    <CreateForm
      create={() => createProject(name.trim(), guidelines)}
      list={projectsQuery.queryKey}
      onMade={(project) => navigate(`/projects/${project.id}/now`)}
      verb="Create project"
      isComplete={name.trim() !== ""}
      {...(onClose === undefined ? {} : { dialog: { title: "New project", onClose } })}
    >
      <NameField value={name} onChange={setName} placeholder="helpfulness" />
      <div className="field">
        <label htmlFor={id}>Guidelines for annotators</label>
        <textarea
          id={id}
          className="input"
          value={guidelines}
          onChange={(event) => setGuidelines(event.target.value)}
          placeholder="What makes one response better than another? Markdown works."
        />
        <span className="hint">Annotators open them on the Rank page.</span>
      </div>
    </CreateForm>
  );
}

export function FirstProject() {
  return (
    <div className="page narrow">
      <div className="page-head">
        <div>
          <h1>Start with a project</h1>
          <p>
            A project contains prompts, annotators and runs. To see the whole loop on an example,
            run <code className="mono nowrap">make demo</code>.
          </p>
        </div>
      </div>
      <section className="card padded">
        <ProjectForm />
      </section>
    </div>
  );
}
