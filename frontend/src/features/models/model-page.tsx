/** One model: where it comes from, what its files say. */
import "./models.css";

import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";

import { modelQuery } from "@/api/models";
import { methodsQuery, verdictsQuery } from "@/api/runs";
import type { ModelDetail } from "@/api/types";
import { Pruned } from "@/components/pruned";
import { Loaded, NoAnswer } from "@/components/states";
import { Ago } from "@/components/text/clock";
import { Copyable } from "@/components/text/copyable";
import { MODEL_KIND_NAMES } from "@/components/text/names";
import { VerdictPill } from "@/components/verdict/verdict-pill";
import { bytes, number, parameters, shortHash, shortId } from "@/lib/format";
import { useMayChange } from "@/components/use-may";
import { useProjectId } from "@/lib/address/use-project";
import { PageTitle } from "@/components/page-title";

import { Lineage } from "./lineage";

function Facts({ model }: { model: ModelDetail }) {
  const { facts } = model;
  const rows: [string, string][] = [
    ["Architecture", facts.architecture ?? "–"],
    ["Parameters", parameters(facts.parameters)],
    ["Vocabulary", number(facts.vocab_size)],
    [
      "Context length",
      facts.context_length == null ? "–" : `${number(facts.context_length)} tokens`,
    ],
    ["Data type", facts.dtype ?? "–"],
    ["Size", facts.size_bytes == null ? "–" : bytes(facts.size_bytes)],
    ["Source", Object.values(model.source).map(String).join(" ") || "run"],
  ];
  return (
    <dl className="facts">
      {rows.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd className="mono">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What may be done with the model next, the main thing last. */
function NextSteps({ model, projectId }: { model: ModelDetail; projectId: string }) {
  const methods = useQuery(methodsQuery).data?.methods ?? [];
  if (!useMayChange(projectId)) return null;
  return methods
    .flatMap(({ method, next_steps: steps }) => steps.map((step) => ({ ...step, method })))
    .filter(({ kind }) => kind === model.kind)
    .sort((a, b) => Number(a.is_main) - Number(b.is_main))
    .map(({ method, field, label, is_main: isMain }) => (
      <Link
        key={method}
        className={isMain ? "btn primary" : "btn"}
        to={`/projects/${projectId}/runs/new?method=${method}&${field}=${model.id}`}
      >
        {label}
      </Link>
    ));
}

/** What the run that made it measured: how good it is comes before what can be done with it. */
function MadeBy(props: { runId: string; step: number | null; projectId: string }) {
  const query = useQuery(verdictsQuery([props.runId]));
  const verdict = query.data?.[0];
  if (query.error !== null && query.data === undefined)
    return (
      <NoAnswer
        query={query}
        about="The verdict of the run that left this model could not be loaded."
      />
    );
  if (verdict === undefined) return null;
  return (
    <section className="card padded">
      <div className="row">
        <h2>{verdict.sentence}</h2>
        <span className="grow" />
        <VerdictPill verdict={verdict} />
      </div>
      <p className="small muted">{verdict.reason}</p>
      <p className="small">
        <Link to={`/projects/${props.projectId}/runs/${props.runId}`}>
          {props.step === null ? "The run" : `The run, step ${number(props.step)}`}
        </Link>
      </p>
    </section>
  );
}

export function ModelPage() {
  const projectId = useProjectId();
  const { modelId = "" } = useParams();
  const query = useQuery(modelQuery(modelId));
  return (
    <div className="page models-page">
      <Loaded query={query} lines={8}>
        {(model) => (
          <>
            <div className="page-head">
              <div>
                <PageTitle>{model.name}</PageTitle>
                <h1>{model.name}</h1>
                <div className="row meta">
                  <span className="tag">{MODEL_KIND_NAMES[model.kind]}</span>
                  <Copyable text={model.id} shown={shortId(model.id)} label="model id" />
                  {model.sha256 !== null && (
                    <Copyable text={model.sha256} shown={shortHash(model.sha256)} label="sha256" />
                  )}
                  <span className="small muted">
                    <Ago at={model.created_at} />
                  </span>
                </div>
              </div>
              <span className="grow" />
              <div className="row">
                {model.pruned_at === null && <NextSteps model={model} projectId={projectId} />}
              </div>
            </div>
            {model.pruned_at !== null && (
              <Pruned at={model.pruned_at}>
                Runs can no longer use this model. To get it back, clone the run that produced it.
              </Pruned>
            )}
            {model.run_id !== null && (
              <MadeBy runId={model.run_id} step={model.step} projectId={projectId} />
            )}
            <section className="card padded">
              <h2>Lineage</h2>
              {model.has_more_relatives && (
                <p className="small muted">
                  The lineage shows {model.lineage.length} models; older ones of a generation are
                  left out.{" "}
                  <Link className="in-text" to={`/projects/${projectId}/models`}>
                    Models
                  </Link>{" "}
                  lists those of this project.
                </p>
              )}
              <Lineage nodes={model.lineage} selfId={model.id} projectId={projectId} />
            </section>
            <section className="card padded">
              <h2>Model files</h2>
              <Facts model={model} />
            </section>
          </>
        )}
      </Loaded>
    </div>
  );
}
