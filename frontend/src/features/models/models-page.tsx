/** The registry: base models and what runs have made of them. */
import "./models.css";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import { modelsOf, MOST_LISTED } from "@/api/models";
import type { Model } from "@/api/types";
import { Icon } from "@/components/icons";
import { Empty, Loaded } from "@/components/states";
import { Table, type Column } from "@/components/table";
import { Ago } from "@/components/text/clock";
import { MODEL_KIND_NAMES } from "@/components/text/names";
import { useMayChange } from "@/components/use-may";
import { PageTitle } from "@/components/page-title";
import { bytes, parameters } from "@/lib/format";
import { useProjectId } from "@/lib/address/use-project";

import { RegisterDialog } from "./register-dialog";

function Row({ model, projectId }: { model: Model; projectId: string }) {
  const { facts } = model;
  return (
    <tr>
      <td>
        <Link className="item-name" to={`/projects/${projectId}/models/${model.id}`}>
          {model.name}
        </Link>
      </td>
      <td className="nowrap" data-label="Kind">
        {MODEL_KIND_NAMES[model.kind]}
      </td>
      <td data-label="Source">
        {model.run_id === null ? (
          <span className="muted">base model</span>
        ) : (
          <Link to={`/projects/${projectId}/runs/${model.run_id}`}>
            run{model.step === null ? "" : `, step ${model.step}`}
          </Link>
        )}
      </td>
      <td className="num" data-label="Parameters">
        {parameters(facts.parameters)}
      </td>
      <td className="num" data-label="Size">
        {facts.size_bytes == null ? "–" : bytes(facts.size_bytes)}
      </td>
      <td className="mono" data-label="Architecture">
        {facts.architecture ?? "–"}
      </td>
      <td className="small muted" data-label="Created">
        <Ago at={model.created_at} />
      </td>
    </tr>
  );
}

const COLUMNS: readonly Column[] = [
  "Name",
  "Kind",
  "Source",
  ["Parameters", "num"],
  ["Size", "num"],
  "Architecture",
  "Created",
];

export function ModelsPage() {
  const projectId = useProjectId();
  const models = useQuery(modelsOf(projectId));
  const [isOpen, setOpen] = useState(false);
  const mayChange = useMayChange(projectId);
  const register = mayChange && (
    <button type="button" className="btn primary" onClick={() => setOpen(true)}>
      <Icon name="plus" /> Register a model
    </button>
  );
  return (
    <div className="page models-page">
      <div className="page-head">
        <div>
          <PageTitle>Models</PageTitle>
          <h1>Models</h1>
          <p>The registry holds base models and the models that runs trained from them.</p>
        </div>
        <span className="grow" />
        {register}
      </div>
      <section className="card as-cards">
        <Loaded query={models} lines={6}>
          {({ items, next_cursor: more }) => (
            <>
              <Table
                columns={COLUMNS}
                items={items}
                empty={
                  <Empty icon="models" title="No models yet" actions={register}>
                    {mayChange
                      ? "Register the model you want to improve: a folder with safetensors, a GGUF file, or a Hugging Face Hub id."
                      : "Models appear here when a researcher of this project registers them and when runs have trained them."}
                  </Empty>
                }
              >
                {(model) => <Row key={model.id} model={model} projectId={projectId} />}
              </Table>
              {more != null && (
                <p className="small muted models-part">
                  The newest {MOST_LISTED} models are listed. An older one that a run trained is on
                  the page of that run.
                </p>
              )}
            </>
          )}
        </Loaded>
      </section>
      {isOpen && <RegisterDialog projectId={projectId} onClose={() => setOpen(false)} />}
    </div>
  );
}
