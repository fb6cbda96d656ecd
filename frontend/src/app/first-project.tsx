/** The form for a new project: the first thing to do on an empty installation. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { createProject, projectsQuery } from "@/api/projects";
import { createsProjects, meQuery } from "@/api/session";
import { CreateForm, NameField } from "@/components/form/create-form";
import { Field } from "@/components/form/field";
import { EmptyCard } from "@/components/states";
import {
  JudgmentsFields,
  PROPOSED_JUDGMENTS,
  settingsOf,
} from "@/components/form/judgments-fields";
import { useGo } from "@/lib/address/use-go";

export function ProjectForm({ onClose }: { onClose?: () => void }) {
  const [name, setName] = useState("");
  const [guidelines, setGuidelines] = useState("");
  const [wanted, setWanted] = useState(PROPOSED_JUDGMENTS);
  const client = useQueryClient();
  const go = useGo();
  return (
    <CreateForm
      notDone="The project was not created."
      create={() => createProject({ name: name.trim(), guidelines, ...settingsOf(wanted) })}
      list={projectsQuery.queryKey}
      onMade={async (project) => {
        // Who made it is a member now.
        await client.invalidateQueries(meQuery);
        await go(`/projects/${project.id}`);
      }}
      verb="Create project"
      isComplete={name.trim() !== ""}
      {...(onClose === undefined ? {} : { dialog: { title: "New project", onClose } })}
    >
      <NameField value={name} onChange={setName} placeholder="helpfulness" />
      <Field label="Guidelines for annotators" hint="Annotators read them before they rank.">
        {(control) => (
          <textarea
            {...control}
            className="input"
            value={guidelines}
            onChange={(event) => setGuidelines(event.target.value)}
            placeholder="What makes one response better than another? Markdown works."
          />
        )}
      </Field>
      <JudgmentsFields value={wanted} onChange={setWanted} />
    </CreateForm>
  );
}

export function FirstProject() {
  const me = useQuery(meQuery);
  if (me.data !== undefined && !createsProjects(me.data))
    return (
      <div className="page narrow">
        <h1 className="sr-only">No project</h1>
        <EmptyCard icon="user" title="You belong to no project yet">
          Ask whoever runs your project for an invitation link, and open it in this browser.
        </EmptyCard>
      </div>
    );
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
