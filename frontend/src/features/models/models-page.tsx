/** The registry: base models and what runs have made of them. */
import "./models.css";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Link } from "react-router";

import { modelsQuery, registerModel } from "@/api/models";
import type { Model } from "@/api/types";
import { Ago } from "@/components/clock";
import { Dialog } from "@/components/dialog";
import { Icon } from "@/components/icons";
import { Segmented } from "@/components/segmented";
import { Empty, Failure, Loaded } from "@/components/states";
import { useProjectId } from "@/components/use-project";
import { bytes, words } from "@/lib/format";

export function parameters(count: number | null | undefined): string {
  if (count === null || count === undefined) return "–";
  if (count >= 1e9) return `${(count / 1e9).toPrecision(3)} B`;
  return count >= 1e6 ? `${(count / 1e6).toPrecision(3)} M` : count.toLocaleString("en-US");
}

type SourceKind = "path" | "hub_id";

function RegisterDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Model["kind"]>("causal_lm");
  const [sourceKind, setSourceKind] = useState<SourceKind>("path");
  const [place, setPlace] = useState("");
  const ids = [useId(), useId()] as const;
  const client = useQueryClient();
  const register = useMutation({
    mutationFn: () =>
      registerModel({
        name: name.trim(),
        kind,
        source: sourceKind === "path" ? { path: place.trim() } : { hub_id: place.trim() },
        project_id: projectId,
      }),
    onSuccess: async () => {
      await client.invalidateQueries(modelsQuery);
      onClose();
    },
  });
  return (
    <Dialog
      title="Register a model"
      onClose={onClose}
      footer={
        <button
          type="submit"
          form="register-model"
          className="btn primary"
          disabled={register.isPending || !name.trim() || !place.trim()}
        >
          {register.isPending ? "Reading its files" : "Register"}
        </button>
      }
    >
      <form
        id="register-model"
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          register.mutate();
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
          />
        </div>
        <div className="field">
          <span className="label">What it computes</span>
          <Segmented
            label="What it computes"
            value={kind}
            options={[
              ["causal_lm", "The next token"],
              ["reward_model", "One score"],
            ]}
            onChange={setKind}
          />
        </div>
        <div className="field">
          <span className="label">Where it is</span>
          <Segmented
            label="Where it is"
            value={sourceKind}
            options={[
              ["path", "Folder or GGUF file"],
              ["hub_id", "Hub id"],
            ]}
            onChange={setSourceKind}
          />
          <input
            id={ids[1]}
            className="input mono"
            aria-label={sourceKind === "path" ? "Path" : "Hub id"}
            required
            value={place}
            placeholder={sourceKind === "path" ? "/data/models/smollm2" : "owner/name"}
            onChange={(event) => setPlace(event.target.value)}
          />
          <span className="hint">
            {sourceKind === "path"
              ? "On the machine that runs the API, under the data directory or PODIUM_MODEL_ROOTS."
              : "The worker fetches it when a run needs it; safetensors only."}
          </span>
        </div>
        {register.error !== null && <Failure error={register.error} />}
      </form>
    </Dialog>
  );
}

function Row({ model, projectId }: { model: Model; projectId: string }) {
  const { facts } = model;
  return (
    <tr>
      <td>
        <Link className="item-name" to={`/projects/${projectId}/models/${model.id}`}>
          <b>{model.name}</b>
        </Link>
      </td>
      <td className="nowrap">{words(model.kind)}</td>
      <td>
        {model.run_id === null ? (
          <span className="muted">registered</span>
        ) : (
          <Link to={`/projects/${projectId}/runs/${model.run_id}`}>
            a run{model.step === null ? "" : `, step ${model.step}`}
          </Link>
        )}
      </td>
      <td className="num">{parameters(facts.parameters)}</td>
      <td className="num">{facts.size_bytes == null ? "–" : bytes(facts.size_bytes)}</td>
      <td className="mono">{facts.architecture ?? "–"}</td>
      <td className="small muted">
        <Ago at={model.created_at} />
      </td>
    </tr>
  );
}

export function ModelsPage() {
  const projectId = useProjectId();
  const models = useQuery(modelsQuery);
  const [isOpen, setOpen] = useState(false);
  const register = (
    <button type="button" className="btn primary" onClick={() => setOpen(true)}>
      <Icon name="plus" /> Register a model
    </button>
  );
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>Models</h1>
          <p>Base models and checkpoints, and how one came from the other.</p>
        </div>
        <span className="grow" />
        {register}
      </div>
      <section className="card">
        <Loaded query={models} lines={6}>
          {({ items }) => {
            const mine = items.filter(
              (model) => model.project_id === null || model.project_id === projectId,
            );
            if (mine.length === 0)
              return (
                <Empty icon="models" title="No models yet" actions={register}>
                  Register the model you want to improve: a folder with safetensors, a GGUF file, or
                  a name on a hub.
                </Empty>
              );
            return (
              <div className="table-wrap" tabIndex={0}>
                <table className="table">
                  <thead>
                    <tr>
                      <th>Name</th>
                      <th>Kind</th>
                      <th>From</th>
                      <th className="num">Parameters</th>
                      <th className="num">Size</th>
                      <th>Architecture</th>
                      <th>Created</th>
                    </tr>
                  </thead>
                  <tbody>
                    {mine.map((model) => (
                      <Row key={model.id} model={model} projectId={projectId} />
                    ))}
                  </tbody>
                </table>
              </div>
            );
          }}
        </Loaded>
      </section>
      {isOpen && <RegisterDialog projectId={projectId} onClose={() => setOpen(false)} />}
    </div>
  );
}
