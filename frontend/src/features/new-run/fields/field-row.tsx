/** One field: its key, its sentence, its control, the range, the default and what is wrong. */
import type { ReactNode } from "react";

import type { Json } from "@/api/types";
import { Icon } from "@/components/icons";
import { Sentence } from "@/components/text/sentence";
import { isSame, valueAt } from "@/features/new-run/config/paths";
import type { Field } from "@/features/new-run/config/schema";
import { shownValue } from "@/features/new-run/config/typing";

import { Control } from "./controls";
import { adviceOf, fieldId, isMissing, useForm } from "./form-context";
import { ReferenceControl } from "./reference-control";
import { Section } from "./section";
import { TermList } from "./term-list";

export function Fields({ fields, prefix }: { fields: readonly Field[]; prefix: string }) {
  return fields.map((field) => {
    const path = `${prefix}${field.name}`;
    if (field.type === "section")
      return (
        <Section key={path} field={field} path={path}>
          <Fields fields={field.fields} prefix={`${path}.`} />
        </Section>
      );
    if (field.type === "list")
      return (
        <TermList
          key={path}
          field={field}
          path={path}
          renderFields={(inner, start) => <Fields fields={inner} prefix={start} />}
        />
      );
    return <FieldRow key={path} field={field} path={path} />;
  });
}

function FieldRow({ field, path }: { field: Field; path: string }) {
  const form = useForm();
  const said = valueAt(form.config, path);
  const id = fieldId(path);
  const problems = useProblems(path);
  const common = {
    id,
    describedBy: [`${id}-about`, ...problems.map((_, at) => problemId(path, at))].join(" "),
    isInvalid: problems.some(({ problem, isSoft }) => problem.level !== "warning" && !isSoft),
    onChange: (value: Json | undefined) => form.change(path, value),
  };
  const isChanged = said !== undefined && !field.isRequired && !isSame(said, field.fallback);
  return (
    <Row
      field={field}
      path={path}
      isChanged={isChanged}
      onReset={() => form.change(path, undefined)}
    >
      {field.type === "reference" ? (
        <ReferenceControl {...common} field={field} value={said} />
      ) : (
        <Control {...common} field={field} value={said === undefined ? field.fallback : said} />
      )}
    </Row>
  );
}

function Row(props: {
  field: Field;
  path: string;
  isChanged: boolean;
  onReset: () => void;
  children: ReactNode;
}) {
  const { field, path } = props;
  const id = fieldId(path);
  const bounds = "range" in field ? field.range : "";
  return (
    <div className={props.isChanged ? "field-row changed" : "field-row"}>
      <div className="about">
        <label htmlFor={id} className="mono">
          {field.name}
          <span className="sr-only"> ({path})</span>
        </label>
        <p id={`${id}-about`} className="hint">
          {field.description} {bounds !== "" && <span className="bounds">Allowed: {bounds}.</span>}
        </p>
      </div>
      <div className="control">
        {props.children}
        <Default field={field} isChanged={props.isChanged} onReset={props.onReset} />
        <FieldProblems path={path} />
      </div>
    </div>
  );
}

function Default(props: { field: Field; isChanged: boolean; onReset: () => void }) {
  const { field } = props;
  if (field.isRequired || field.fallback === undefined) return null;
  const shown = field.type === "texts" ? "" : shownValue(field.fallback);
  const value = shown || (field.type === "text" ? "empty" : "none");
  return (
    <span className="default small faint">
      default {field.whenAbsent ?? <span className="mono">{value}</span>}
      {props.isChanged && (
        <button
          type="button"
          className="link"
          aria-label={`Reset ${field.name} to its default`}
          onClick={props.onReset}
        >
          reset
        </button>
      )}
    </span>
  );
}

/** The problems of a field, also those that lie inside a single value such as a reference. */
function useProblems(path: string) {
  const { problems, isAttempted } = useForm();
  return problems
    .filter((problem) => problem.path === path || problem.path.startsWith(`${path}.`))
    .map((problem) => ({ problem, isSoft: isMissing(problem) && !isAttempted }));
}

const problemId = (path: string, at: number) => `${fieldId(path)}-problem-${at}`;

function FieldProblems({ path }: { path: string }) {
  return useProblems(path).map(({ problem, isSoft }, at) =>
    isSoft ? (
      <span key={problem.message} id={problemId(path, at)} className="small faint">
        required
      </span>
    ) : (
      <span
        key={problem.message}
        id={problemId(path, at)}
        className={problem.level === "warning" ? "warned small" : "error small"}
      >
        <Icon name="alert" /> <Sentence text={problem.message + adviceOf(problem)} />
      </span>
    ),
  );
}
