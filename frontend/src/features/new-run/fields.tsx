/** One control per property of a schema; groups and lists hold further ones. */
import { useId, type ReactNode } from "react";
import { Link } from "react-router";

import type { Json, JsonObject } from "@/api/types";
import { Icon } from "@/components/icons";
import { shortHash } from "@/lib/format";

import { problemsAt, useForm } from "./form-context";
import {
  kindName,
  labelOf,
  rangeText,
  shapeOf,
  valueAt,
  variantsOf,
  wantedAt,
  type FieldShape,
  type Path,
  type Schema,
} from "./schema";

export interface FieldProps {
  readonly name: string;
  readonly path: Path;
  readonly property: Schema;
  readonly value: Json | undefined;
  readonly isRequired: boolean;
}

interface ControlProps extends FieldProps {
  readonly shape: FieldShape;
  readonly id: string;
  readonly isWrong: boolean;
}

function Reference({ path, value, id, isWrong, shape, isRequired }: ControlProps) {
  const { models, snapshots, references, projectId, set } = useForm();
  const wanted = wantedAt(references, path);
  const isModel = wanted === "causal_lm" || wanted === "reward_model";
  const options = isModel
    ? models.filter((one) => one.kind === wanted).map((one) => ({ ...one, note: "" }))
    : snapshots
        .filter((one) => one.kind === wanted)
        .map((one) => ({ ...one, note: `, ${shortHash(one.sha256)}` }));
  const chosen = valueAt(value, ["id"]);
  const place = isModel ? "models" : `data/snapshots?freeze=${wanted}`;
  if (options.length === 0 && chosen === undefined)
    return (
      <p className="small muted">
        There is none yet.{" "}
        <Link to={`/projects/${projectId}/${place}`}>
          {isModel ? "Register or train a model" : `Freeze a snapshot of ${wanted}`}
        </Link>
      </p>
    );
  return (
    <select
      id={id}
      className="input"
      aria-invalid={isWrong}
      value={typeof chosen === "string" ? chosen : ""}
      onChange={(event) => {
        const picked = event.target.value;
        set(path, picked === "" ? undefined : { id: picked });
      }}
    >
      <option value="">{isRequired && !shape.isOptional ? "choose" : "none"}</option>
      {options.map((one) => (
        <option key={one.id} value={one.id}>
          {one.name}
          {one.note}
        </option>
      ))}
      {typeof chosen === "string" && options.every((one) => one.id !== chosen) && (
        <option value={chosen}>{chosen}</option>
      )}
    </select>
  );
}

function NumberControl({ path, value, id, isWrong, shape }: ControlProps) {
  const { set } = useForm();
  return (
    <input
      id={id}
      className="input mono"
      inputMode="decimal"
      aria-invalid={isWrong}
      placeholder={shape.default == null ? "" : String(shape.default)}
      defaultValue={value == null ? "" : String(value)}
      onChange={(event) => {
        const text = event.target.value.trim();
        const number = Number(text);
        // What is no number goes to the API as it is: its message is the better one.
        set(path, text === "" ? undefined : Number.isFinite(number) ? number : text);
      }}
    />
  );
}

function Choice({ path, value, id, isWrong, shape }: ControlProps) {
  const { set } = useForm();
  return (
    <select
      id={id}
      className="input"
      aria-invalid={isWrong}
      value={String(value ?? shape.default ?? "")}
      onChange={(event) => set(path, event.target.value)}
    >
      {(shape.schema.enum ?? []).map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Text({ path, value, id, isWrong, shape }: ControlProps) {
  const { set } = useForm();
  const shared = {
    id,
    className: "input",
    "aria-invalid": isWrong,
    defaultValue: typeof value === "string" ? value : "",
    placeholder: typeof shape.default === "string" ? shape.default : "",
    onChange: (event: { target: { value: string } }) =>
      set(path, event.target.value === "" ? undefined : event.target.value),
  };
  return (shape.schema.maxLength ?? 0) > 2000 ? (
    <textarea rows={2} {...shared} />
  ) : (
    <input {...shared} />
  );
}

function Flag({ path, value, id, shape }: ControlProps) {
  const { set } = useForm();
  return (
    <input
      id={id}
      type="checkbox"
      checked={Boolean(value ?? shape.default ?? false)}
      onChange={(event) => set(path, event.target.checked)}
    />
  );
}

const CONTROLS = {
  reference: Reference,
  choice: Choice,
  flag: Flag,
  number: NumberControl,
  text: Text,
} as const;

function Wrong({ path }: { path: Path }) {
  const { problems } = useForm();
  return problemsAt(problems, path).map((problem) => (
    <span key={problem.message} className={problem.level === "warning" ? "hint" : "wrong"}>
      {problem.message} {problem.advice}
    </span>
  ));
}

function Simple(props: FieldProps & { shape: FieldShape; kind: keyof typeof CONTROLS }) {
  const id = useId();
  const { problems } = useForm();
  const Control = CONTROLS[props.kind];
  const range = rangeText(props.shape);
  return (
    <div className={`field ${props.kind}`}>
      <label htmlFor={id}>{labelOf(props.name)}</label>
      <Control {...props} id={id} isWrong={problemsAt(problems, props.path).length > 0} />
      <Wrong path={props.path} />
      <span className="hint">
        {props.shape.description}
        {range !== "" && <span className="range"> {range}</span>}
      </span>
    </div>
  );
}

/** All properties of an object; the ones left out are shown elsewhere. */
export function Properties(props: {
  schema: Schema;
  path: Path;
  value: Json | undefined;
  only?: (name: string) => boolean;
}) {
  const { schema, path, value, only } = props;
  const entries = Object.entries(schema.properties ?? {});
  return entries
    .filter(([name]) => only?.(name) ?? true)
    .map(([name, property]) => (
      <Field
        key={name}
        name={name}
        path={[...path, name]}
        property={property}
        value={valueAt(value, [name])}
        isRequired={schema.required?.includes(name) ?? false}
      />
    ));
}

function Group({ name, path, value, shape }: FieldProps & { shape: FieldShape }) {
  const { set } = useForm();
  const isOn = !shape.isOptional || (value !== undefined && value !== null);
  const toggle = shape.isOptional && (
    <label className="row small">
      <input
        type="checkbox"
        checked={isOn}
        onChange={(event) => set(path, event.target.checked ? {} : null)}
      />
      use
    </label>
  );
  return (
    <Section title={labelOf(name)} text={shape.description} extra={toggle}>
      <Wrong path={path} />
      {isOn && (
        <div className="fields">
          <Properties schema={shape.schema} path={path} value={value} />
        </div>
      )}
    </Section>
  );
}

function Section(props: { title: string; text: string; extra: ReactNode; children: ReactNode }) {
  return (
    <fieldset className="group">
      <legend className="sr-only">{props.title}</legend>
      <header className="row">
        <h3>{props.title}</h3>
        <span className="small faint grow">{props.text}</span>
        {props.extra}
      </header>
      {props.children}
    </fieldset>
  );
}

function Terms({ name, path, value, shape }: FieldProps & { shape: FieldShape }) {
  const { defs, set } = useForm();
  const variants = variantsOf(shape.schema, defs);
  const items = Array.isArray(value) ? value : [];
  return (
    <Section
      title={labelOf(name)}
      text={shape.description}
      extra={
        <span className="row">
          {variants.map((variant) => (
            <button
              type="button"
              key={kindName(variant)}
              className="btn"
              onClick={() => set([...path, items.length], { kind: kindName(variant) })}
            >
              <Icon name="plus" /> {kindName(variant)}
            </button>
          ))}
        </span>
      }
    >
      <Wrong path={path} />
      {items.map((item, place) => {
        const kind = (item as JsonObject)["kind"];
        const variant = variants.find((one) => kindName(one) === kind);
        const here = [...path, place];
        return (
          <div className="term" key={`${place}-${String(kind)}`}>
            <header className="row">
              <span className="tag">{String(kind)}</span>
              <span className="small faint grow">{variant?.description}</span>
              <button
                type="button"
                className="btn ghost icon"
                aria-label={`Remove term ${place + 1}`}
                onClick={() => set(here, undefined)}
              >
                <Icon name="close" />
              </button>
            </header>
            <Wrong path={here} />
            <div className="fields">
              {variant !== undefined && <Properties schema={variant} path={here} value={item} />}
            </div>
          </div>
        );
      })}
      {items.length === 0 && <p className="small muted">None yet; add one.</p>}
    </Section>
  );
}

export function Field(props: FieldProps) {
  const { defs } = useForm();
  const shape = shapeOf(props.property, defs);
  if (shape.kind === "hidden") return null;
  if (shape.kind === "group") return <Group {...props} shape={shape} />;
  if (shape.kind === "terms") return <Terms {...props} shape={shape} />;
  return <Simple {...props} shape={shape} kind={shape.kind} />;
}
