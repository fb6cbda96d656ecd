/**
 * Beside the form: the name, Start, what is still wrong and what differs from the start.
 *
 * Start stands above all that comes and goes with the service's answers: a button that moves between
 * the press and the release of the mouse is not clicked.
 */
import { useId, type ReactNode } from "react";

import type { ConfigProblem, Json } from "@/api/types";
import { Icon } from "@/components/icons";
import { Failure } from "@/components/states";
import { Sentence } from "@/components/text/sentence";
import { plural, shortId } from "@/lib/format";

import type { Difference } from "./config/initial-config";
import { isObject } from "./config/schema";
import { shownValue } from "./config/typing";
import { adviceOf, isMissing } from "./fields/form-context";

export function Summary(props: {
  name: string;
  onName: (name: string) => void;
  problems: readonly ConfigProblem[];
  isAttempted: boolean;
  isChecking: boolean;
  checkError: Error | null;
  onGo: (path: string) => void;
  differences: readonly Difference[];
  startName: string;
  labels: ReactNode;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <aside className="card summary" aria-label="Summary">
      <div className="field">
        <label htmlFor={id}>Name</label>
        <input
          id={id}
          className="input mono"
          maxLength={200}
          value={props.name}
          aria-invalid={props.name.trim() === "" || undefined}
          onChange={(event) => props.onName(event.target.value)}
        />
      </div>
      {props.labels}
      {props.children}
      <Problems {...props} />
      <Differences list={props.differences} startName={props.startName} />
    </aside>
  );
}

function Problems(props: {
  problems: readonly ConfigProblem[];
  isAttempted: boolean;
  isChecking: boolean;
  checkError: Error | null;
  onGo: (path: string) => void;
}) {
  if (props.checkError !== null) return <Failure error={props.checkError} />;
  const errors = props.problems.filter(({ level }) => level === "error").length;
  const isSoft = (problem: ConfigProblem) => isMissing(problem) && !props.isAttempted;
  const isOnlySoft = props.problems.every(isSoft);
  return (
    <div className="problems">
      <p className="small" role="status">
        {props.problems.length === 0 ? (
          <span className={props.isChecking ? "faint" : "ok"}>
            {props.isChecking ? "Checking…" : "Ready to start."}
          </span>
        ) : (
          <b>{isOnlySoft ? "Still required" : headline(errors, props.problems.length - errors)}</b>
        )}
      </p>
      {props.problems.length > 0 && (
        <ul>
          {props.problems.map((problem) => (
            <li
              key={`${problem.path} ${problem.message}`}
              className={tone(problem, isSoft(problem))}
            >
              <button type="button" className="link mono" onClick={() => props.onGo(problem.path)}>
                {problem.path || "config"}
              </button>
              {!isSoft(problem) && (
                <span>
                  <Sentence text={afterPath(problem) + adviceOf(problem)} />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The message without the path that it begins with: the path stands before it. */
function afterPath({ path, message }: ConfigProblem): string {
  if (path === "") return `: ${message}`;
  return message.startsWith(`${path} `) ? message.slice(path.length) : `: ${message}`;
}

const tone = (problem: ConfigProblem, isSoft: boolean) =>
  isSoft ? "small" : problem.level === "warning" ? "small warned" : "small error";

function headline(errors: number, warnings: number): string {
  const parts = [
    errors > 0 ? plural(errors, "problem") : "",
    warnings > 0 ? plural(warnings, "warning") : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function Differences({ list, startName }: { list: readonly Difference[]; startName: string }) {
  if (list.length === 0) return null;
  return (
    <div className="differences">
      <h3>
        {plural(list.length, "change")} compared with {startName}
      </h3>
      <dl>
        {list.map(({ path, before, after }) => (
          <div key={path}>
            <dt className="mono">{path}</dt>
            <dd className="mono">
              <span className="faint">{brief(path, before)}</span>
              <Icon name="right" />
              <span className="sr-only">to </span>
              {brief(path, after)}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** Inside a list there are no defaults to go back to: the item, or a key of it, is not there. */
function brief(path: string, value: Json | undefined): string {
  if (value === undefined) return /\.\d+\./.test(path) ? "not set" : "default";
  if (value === null) return "none";
  if (!isObject(value)) return shownValue(value) || "empty";
  return typeof value["id"] === "string"
    ? shortId(value["id"])
    : shownValue(value["hub_id"]) || "on";
}
