/** The form for a new project: the first thing to do on an empty installation. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { useNavigate } from "react-router";

import { createProject, projectsQuery } from "@/api/projects";
import { Failure } from "@/components/states";

export function ProjectForm() {
  const [name, setName] = useState("");
  const [guidelines, setGuidelines] = useState("");
  const ids = [useId(), useId()] as const;
  const client = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: () => createProject(name.trim(), guidelines),
    onSuccess: async (project) => {
      await client.invalidateQueries(projectsQuery);
      await navigate(`/projects/${project.id}/now`);
    },
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <div className="field">
        <label htmlFor={ids[0]}>Name</label>
        <input
          id={ids[0]}
          className="input"
          required
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
          placeholder="helpfulness"
        />
      </div>
      <div className="field">
        <label htmlFor={ids[1]}>Guidelines for annotators</label>
        <textarea
          id={ids[1]}
          className="input"
          value={guidelines}
          onChange={(event) => setGuidelines(event.target.value)}
          placeholder="What makes one response better than another? Markdown works."
        />
        <span className="hint">Annotators open them with O while they rank.</span>
      </div>
      {create.error !== null && <Failure error={create.error} />}
      <div className="row">
        <button type="submit" className="btn primary" disabled={create.isPending || !name.trim()}>
          Create project
        </button>
      </div>
    </form>
  );
}

export function FirstProject() {
  return (
    <div className="page narrow">
      <div className="page-head">
        <div>
          <h1>Start with a project</h1>
          <p>
            A project holds prompts, the people who rank and the runs that learn from them. Or run{" "}
            <code className="mono">make demo</code> to watch the whole loop happen.
          </p>
        </div>
      </div>
      <section className="card padded">
        <ProjectForm />
      </section>
    </div>
  );
}
