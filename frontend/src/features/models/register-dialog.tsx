/** Registers a model: a folder or file on the machine of the API, or a language model of a hub. */
import { useState } from "react";

import { modelsKey, registerModel } from "@/api/models";
import type { Model } from "@/api/types";
import { CreateForm, NameField } from "@/components/form/create-form";
import { Segmented } from "@/components/segmented";
import { MODEL_KIND_NAMES } from "@/components/text/names";

type SourceKind = "path" | "hub_id";

const SOURCES: readonly (readonly [SourceKind, string])[] = [
  ["path", "Folder or GGUF file"],
  ["hub_id", "Hugging Face Hub id"],
];

const KINDS = (Object.keys(MODEL_KIND_NAMES) as Model["kind"][]).map((kind) => {
  const name = MODEL_KIND_NAMES[kind];
  return [kind, `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`] as const;
});

export function RegisterDialog(props: { projectId: string; onClose: () => void }) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Model["kind"]>("causal_lm");
  const [wanted, setWanted] = useState<SourceKind>("path");
  const [place, setPlace] = useState("");
  const mayBeOnHub = kind === "causal_lm";
  const sourceKind = mayBeOnHub ? wanted : "path";
  const labelOfPath = mayBeOnHub ? "Path" : "Folder";
  const register = () =>
    registerModel({
      name: name.trim(),
      kind,
      source: sourceKind === "path" ? { path: place.trim() } : { hub_id: place.trim() },
      project_id: props.projectId,
    });
  return (
    <CreateForm
      notDone="The model was not registered."
      create={register}
      list={modelsKey}
      verb="Register"
      verbWhileSending="Reading the files…"
      isComplete={name.trim() !== "" && place.trim() !== ""}
      dialog={{ title: "Register a model", onClose: props.onClose }}
    >
      <NameField value={name} onChange={setName} />
      <div className="field">
        <span className="label">Kind</span>
        <Segmented label="Kind" value={kind} options={KINDS} onChange={setKind} />
      </div>
      <div className="field">
        {mayBeOnHub ? (
          <>
            <span className="label">Source</span>
            <Segmented label="Source" value={sourceKind} options={SOURCES} onChange={setWanted} />
          </>
        ) : (
          <span className="label">{labelOfPath}</span>
        )}
        <input
          className="input mono"
          aria-label={sourceKind === "path" ? labelOfPath : "Hugging Face Hub id"}
          required
          value={place}
          placeholder={sourceKind === "path" ? "/data/models/smollm2" : "owner/name"}
          onChange={(event) => setPlace(event.target.value)}
        />
        <span className="hint">
          {sourceKind === "path"
            ? "A path on the machine that runs the API, inside the data directory or a folder of PODIUM_MODEL_ROOTS."
            : "The worker downloads the model from the Hugging Face Hub when a run needs it. Only safetensors weights are accepted."}
        </span>
      </div>
    </CreateForm>
  );
}
