/** The New run form: starting point, fields or JSON, summary, and what happens on Start. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";

import { experimentsQuery } from "@/api/experiments";
import { runsQuery } from "@/api/runs";
import type { ConfigProblem, ExperimentSummary, JsonObject, Method, Run } from "@/api/types";
import { Icon } from "@/components/icons";
import { Segmented } from "@/components/segmented";
import { Empty, Failure } from "@/components/states";
import { randomId } from "@/lib/random-id";
import { useAddress, withValues } from "@/lib/address/use-address";
import { useGo, type Go } from "@/lib/address/use-go";

import { differences, suggestedName, type Candidates } from "./config/initial-config";
import { fieldsOf, grouped, type Field } from "./config/schema";
import { bySaid, bySearch, found, placeOf } from "./config/find";
import { Fields } from "./fields/field-row";
import {
  fieldId,
  FormProvider,
  leavesRefusalOpen,
  type Form as FormValue,
} from "./fields/form-context";
import { EVERYTHING, FindSettings, isSearching, type Finding } from "./find-settings";
import { JsonTab } from "./json-tab";
import { LabelFields, labelsOf, type Labels } from "./labels";
import { startRun } from "./start-run";
import { StartChoice, defaultPreset } from "./start-choice";
import { Summary } from "./summary";
import { useDraft, useValidation, type Draft, type Given, type Start } from "./use-draft";

export interface FormInputs extends Candidates {
  readonly methods: readonly Method[];
  readonly runs: readonly Run[];
  readonly experiments: readonly ExperimentSummary[];
  /** The one that the page was opened for. */
  readonly experimentId: string | null;
  /** The run that `?from=` names. */
  readonly parent: Run | null;
}

/** What the address says besides references. */
const OWN_PARAMETERS = new Set([
  "method",
  "preset",
  "from",
  "step",
  "view",
  "experiment",
  "advised",
]);

/** Where the address says to begin; null where there is no method. */
function firstStart(inputs: FormInputs, search: URLSearchParams): Start | null {
  const { methods, parent } = inputs;
  const wanted = parent?.method ?? search.get("method");
  const method = methods.find((one) => one.method === wanted) ?? methods[0];
  if (method === undefined) return null;
  if (parent !== null && parent.method === method.method) {
    const step = Number(search.get("step") ?? Number.NaN);
    return { method, preset: null, parent, step: Number.isInteger(step) ? step : null };
  }
  const preset = search.get("preset");
  const isKnown = preset === "" || method.presets.some(({ name }) => name === preset);
  return {
    method,
    preset: isKnown ? preset || null : defaultPreset(method),
    parent: null,
    step: null,
  };
}

export function RunEditor({ projectId, inputs }: { projectId: string; inputs: FormInputs }) {
  const { search } = useAddress();
  const [start] = useState(() => firstStart(inputs, search));
  if (start === null)
    return (
      <Empty icon="runs" title="No methods">
        This installation has no methods.
      </Empty>
    );
  const changes = search.has("advised") ? inputs.parent?.error?.changes : undefined;
  const given = {
    references: [...search].filter(([path]) => !OWN_PARAMETERS.has(path)),
    advised: (changes ?? {}) as JsonObject,
  };
  return <Form projectId={projectId} inputs={inputs} first={start} given={given} />;
}

function Form(props: { projectId: string; inputs: FormInputs; first: Start; given: Given }) {
  const { projectId, inputs } = props;
  const { search, change, set } = useAddress();
  const draft = useDraft(props.first, props.given, inputs);
  const validation = useValidation(projectId, draft.config);
  const form = useRef<HTMLDivElement>(null);
  const [isAttempted, setAttempted] = useState(false);
  const [finding, setFinding] = useState(EVERYTHING);
  const [asked, setAsked] = useState<FormValue["asked"]>(null);
  const problems = validation.data?.problems ?? [];
  const isText = search.get("view") === "json";

  const begin = (start: Start) => {
    draft.begin(start);
    const where = start.parent ? { from: start.parent.id } : { preset: start.preset ?? "" };
    const { experimentId } = inputs;
    change((now) => {
      const next = { method: start.method.method, ...where };
      return withValues(new URLSearchParams(next), {
        view: now.get("view") === "json" ? "json" : null,
        experiment: experimentId,
      });
    });
  };
  const beginWith = (method: Method) => {
    begin({ method, preset: defaultPreset(method), parent: null, step: null });
    // The button that was pressed is gone with its field; what it chose stands at the top.
    requestAnimationFrame(() =>
      form.current?.querySelector<HTMLElement>("input[type=radio]:checked")?.focus(),
    );
  };
  const continueFrom = (step: number | null) => {
    draft.continueFrom(step);
    set({ step: step === null ? null : String(step) });
  };
  const show = (view: string) => set({ view: view === "json" ? view : "form" });
  const go = (path: string) => {
    const place = placeOnForm(path, draft.config, inputs.methods);
    if (isText !== (place === null)) show(isText ? "form" : "json");
    setFinding(EVERYTHING);
    setAsked({ place: place ?? "" });
    // The form or the text may first have to appear.
    requestAnimationFrame(() => focusOn(place ?? ""));
  };
  return (
    <div className="run-editor">
      <div className="run-form" ref={form}>
        <StartChoice
          start={draft.start}
          method={String(draft.config["method"])}
          methods={inputs.methods}
          runs={inputs.runs}
          onBegin={begin}
          onStep={continueFrom}
        />
        {draft.undo !== null && <ReplacedNotice onUndo={draft.undo} />}
        <div className="row">
          <Segmented
            label="Form or JSON"
            value={isText ? "json" : "form"}
            options={[
              ["form", "Form"],
              ["json", "JSON"],
            ]}
            onChange={show}
          />
          {!isText && <FindSettings finding={finding} onFind={setFinding} />}
        </div>
        {isText ? (
          <JsonTab
            key={JSON.stringify(draft.origin)}
            config={draft.config}
            onChange={draft.replace}
          />
        ) : (
          <FormProvider
            value={{
              projectId,
              methods: inputs.methods,
              config: draft.config,
              candidates: inputs,
              problems,
              isSearching: isSearching(finding),
              asked,
              isAttempted,
              change: draft.change,
              beginWith,
            }}
          >
            <Groups
              methods={inputs.methods}
              draft={draft}
              finding={finding}
              onFindAll={() => setFinding(EVERYTHING)}
            />
          </FormProvider>
        )}
      </div>
      <StartPanel
        projectId={projectId}
        inputs={inputs}
        draft={draft}
        problems={problems}
        validation={validation}
        isAttempted={isAttempted}
        onAttempt={() => setAttempted(true)}
        onGo={go}
      />
    </div>
  );
}

/** Null for what can be changed as text alone: a key that the method does not have, or the whole. */
function placeOnForm(path: string, config: JsonObject, methods: readonly Method[]): string | null {
  if (path === "method") return path;
  const method = methods.find((one) => one.method === config["method"]);
  return method === undefined ? null : placeOf(fieldsOf(method), path);
}

/** Of a field that is not there, such as one of a section that is off, what is around it. */
function focusOn(place: string): void {
  const parts = place.split(".");
  for (let length = parts.length; length > 0; length -= 1) {
    const element = document.getElementById(fieldId(parts.slice(0, length).join(".")));
    if (element === null) continue;
    element.scrollIntoView({ block: "center" });
    element.focus();
    return;
  }
}

function ReplacedNotice({ onUndo }: { onUndo: () => void }) {
  return (
    <div className="note" role="status">
      <span className="grow">The new starting point replaced your changes.</span>
      <button type="button" className="btn" onClick={onUndo}>
        Restore changes
      </button>
    </div>
  );
}

function Groups(props: {
  methods: readonly Method[];
  draft: Draft;
  finding: Finding;
  onFindAll: () => void;
}) {
  const { methods, draft, finding } = props;
  const name = draft.config["method"];
  const method = methods.find((one) => one.method === name);
  const groups = useMemo(
    () => (method === undefined ? [] : grouped(method, methods)),
    [method, methods],
  );
  if (method === undefined)
    return (
      <Empty icon="alert" title={`There is no method ${JSON.stringify(name) ?? "in this config"}`}>
        Choose a method above, or correct the key <code>method</code> in the JSON.
      </Empty>
    );
  const shown = groups
    .map(({ title, fields }) => ({ title, fields: foundIn(fields, finding, draft.config) }))
    .filter(({ fields }) => fields.length > 0);
  if (shown.length === 0)
    return (
      <Empty icon="search" title="No setting has these words">
        <button type="button" className="btn" onClick={props.onFindAll}>
          Show all settings
        </button>
      </Empty>
    );
  // A search opens the sections that hold what is found; afterwards they are as they were.
  return shown.map((group) => (
    <section
      key={`${method.method} ${group.title} ${String(isSearching(finding))}`}
      className="card group"
    >
      <h2>{group.title}</h2>
      <Fields fields={group.fields} prefix="" />
    </section>
  ));
}

function foundIn(fields: readonly Field[], finding: Finding, config: JsonObject): readonly Field[] {
  const ofText = finding.text.trim() === "" ? fields : found(fields, bySearch(finding.text));
  return finding.isSetOnly ? found(ofText, bySaid(config)) : ofText;
}

function StartPanel(props: {
  projectId: string;
  inputs: FormInputs;
  draft: Draft;
  problems: readonly ConfigProblem[];
  validation: ReturnType<typeof useValidation>;
  isAttempted: boolean;
  onAttempt: () => void;
  onGo: (path: string) => void;
}) {
  const { projectId, draft, validation, problems } = props;
  const [typedName, setTypedName] = useState<string | null>(null);
  const taken = useMemo(
    () => new Set(props.inputs.runs.map((run) => run.name)),
    [props.inputs.runs],
  );
  const name = typedName ?? suggestedName(draft.config, fieldsOf(draft.start.method), taken);
  const { experiments } = props.inputs;
  const [typedLabels, setTypedLabels] = useState<Labels | null>(null);
  const labels =
    typedLabels ?? labelsOf(draft.start.parent, experiments, props.inputs.experimentId);
  const sent = useRef<{ text: string; key: string } | null>(null);
  const client = useQueryClient();
  const go = useGo();
  const launch = useMutation<Run, Error, Go>({
    mutationFn: () => {
      const completed = validation.isCurrent ? (validation.data?.config ?? null) : null;
      const { parent, step } = draft.start;
      const what = { projectId, name: name.trim(), config: draft.config, labels, parent, step };
      const text = JSON.stringify(what);
      // The same run sent twice, after a lost answer or a second click, stays one run.
      if (sent.current?.text !== text) sent.current = { text, key: randomId() };
      const known = { completed: completed as JsonObject | null, experiments };
      return startRun(what, known, sent.current.key);
    },
    onSuccess: async (run, goOn) => {
      await client.invalidateQueries({ queryKey: runsQuery({}).queryKey.slice(0, 1) });
      await client.invalidateQueries(experimentsQuery(projectId));
      await goOn(`/projects/${projectId}/runs/${run.id}`);
    },
    onError: () => void validation.refetch(),
  });
  const attempt = () => {
    props.onAttempt();
    const error = problems.find(({ level }) => level === "error");
    if (validation.isCurrent && error !== undefined) props.onGo(error.path);
    else launch.mutate(go);
  };
  const isReady = validation.isCurrent && !problems.some(({ level }) => level === "error");
  return (
    <Summary
      name={name}
      onName={setTypedName}
      problems={problems}
      isAttempted={props.isAttempted}
      isChecking={!validation.isCurrent}
      checkError={validation.error}
      onGo={props.onGo}
      differences={differences(draft.origin, draft.config).filter((one) => one.path !== "method")}
      startName={draft.start.parent?.name ?? draft.start.preset ?? "the defaults"}
      labels={
        <LabelFields
          labels={labels}
          experiments={experiments}
          parent={draft.start.parent}
          onChange={setTypedLabels}
        />
      }
    >
      <button
        type="button"
        className={isReady ? "btn primary start" : "btn start"}
        disabled={launch.isPending || name.trim() === ""}
        onClick={attempt}
      >
        <Icon name="play" /> {launch.isPending ? "Starting…" : "Start the run"}
      </button>
      {launch.error !== null && leavesRefusalOpen(problems) && <Failure error={launch.error} />}
    </Summary>
  );
}
