/** The experiments of a project: what is asked, by how many runs, and what came of it. */
import "./experiments.css";

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import { createExperiment, experimentPages } from "@/api/experiments";
import { managesIn, meQuery } from "@/api/session";
import type { ExperimentSummary } from "@/api/types";
import { CreateForm, NameField } from "@/components/form/create-form";
import { Field } from "@/components/form/field";
import { Icon } from "@/components/icons";
import { More } from "@/components/more";
import { Segmented } from "@/components/segmented";
import { Empty, Loaded } from "@/components/states";
import { Ago } from "@/components/text/clock";
import { Markdown } from "@/components/text/markdown";
import { PageTitle } from "@/components/page-title";
import { plural } from "@/lib/format";
import { useAddress } from "@/lib/address/use-address";
import { useGo } from "@/lib/address/use-go";
import { useProjectId } from "@/lib/address/use-project";

function NewDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const go = useGo();
  const [name, setName] = useState("");
  const [question, setQuestion] = useState("");
  return (
    <CreateForm
      notDone="The experiment was not created."
      create={() =>
        createExperiment({ project_id: projectId, name: name.trim(), question: question.trim() })
      }
      list={["experiments", projectId]}
      onMade={(made) => go(`/projects/${projectId}/experiments/${made.id}`)}
      verb="Create"
      isComplete={name.trim() !== ""}
      dialog={{ title: "New experiment", onClose }}
    >
      <NameField value={name} onChange={setName} placeholder="KL coefficient" />
      <Field label="Question" hint="What do you want to know when the runs are done?">
        {(control) => (
          <textarea
            {...control}
            className="input"
            rows={3}
            maxLength={2000}
            placeholder="Does a larger KL coefficient keep the gold reward from falling?"
            value={question}
            onChange={(event) => setQuestion(event.target.value)}
          />
        )}
      </Field>
    </CreateForm>
  );
}

function Item({ experiment }: { experiment: ExperimentSummary }) {
  const { conclusion, question } = experiment;
  const to = `/projects/${experiment.project_id}/experiments/${experiment.id}`;
  return (
    <li className="experiment">
      <div>
        <h2>
          <Link to={to}>{experiment.name}</Link>
        </h2>
        {question !== "" && <p className="asked-for">{question}</p>}
        {conclusion !== "" && (
          <div className="concluded">
            <Markdown text={conclusion} />
          </div>
        )}
      </div>
      <div className="small muted facts">
        <span className={conclusion === "" ? "pill" : "pill good"}>
          {conclusion === "" ? "open" : "concluded"}
        </span>
        <span>{plural(experiment.run_count, "run")}</span>
        <Ago at={experiment.changed_at ?? experiment.created_at} />
      </div>
    </li>
  );
}

export function ExperimentsPage() {
  const projectId = useProjectId();
  const { search, set } = useAddress();
  const isArchived = search.get("show") === "archived";
  const me = useQuery(meQuery).data;
  const pages = useInfiniteQuery(experimentPages(projectId, isArchived));
  const [isCreating, setCreating] = useState(false);
  const mayChange = me !== undefined && managesIn(me, projectId);
  const button = mayChange && (
    <button type="button" className="btn primary" onClick={() => setCreating(true)}>
      <Icon name="plus" /> New experiment
    </button>
  );
  const items = pages.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div className="page experiments">
      <div className="page-head">
        <div>
          <PageTitle>Experiments</PageTitle>
          <h1>Experiments</h1>
          <p>An experiment is a question, the runs that answer it, and what you conclude.</p>
        </div>
        <span className="grow" />
        <Segmented
          label="Which experiments"
          value={isArchived ? "archived" : "used"}
          options={[
            ["used", "In use"],
            ["archived", "Archived"],
          ]}
          onChange={(value) => set({ show: value === "archived" ? value : null })}
        />
        {button}
      </div>
      <section className="card">
        <Loaded query={pages} lines={8}>
          {() =>
            items.length > 0 ? (
              <ul>
                {items.map((one) => (
                  <Item key={one.id} experiment={one} />
                ))}
              </ul>
            ) : isArchived ? (
              <Empty icon="experiments" title="No archived experiments" />
            ) : (
              <Empty icon="experiments" title="No experiments in use" actions={button}>
                {mayChange
                  ? "Begin with a question, such as “Does a larger KL coefficient help?”. Then start at least three runs with different seeds for each setting: the page says which setting is better, and how many seeds are still needed to tell."
                  : "An experiment appears here when a researcher of this project creates it. Its page says which setting is better, and how many seeds are still needed to tell."}
              </Empty>
            )
          }
        </Loaded>
        <More query={pages} />
      </section>
      {isCreating && <NewDialog projectId={projectId} onClose={() => setCreating(false)} />}
    </div>
  );
}
