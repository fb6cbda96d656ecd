/** What every field of the form needs: the config, a way to change it, and what is wrong with it. */
import { createContext, useContext } from "react";

import type { ConfigProblem, Json, JsonObject, Method } from "@/api/types";
import type { Candidates } from "@/features/new-run/config/initial-config";

export interface Form {
  readonly projectId: string;
  readonly methods: readonly Method[];
  readonly config: JsonObject;
  readonly candidates: Candidates;
  readonly problems: readonly ConfigProblem[];
  /** Some fields are looked for: sections that hold them are open. */
  readonly isSearching: boolean;
  /** Where a link of a problem led last: sections around it are open. */
  readonly asked: { readonly place: string } | null;
  /** After the first try to start, what is missing is a mistake and no longer a thing to do. */
  readonly isAttempted: boolean;
  /** Undefined takes the value out: the default holds again. */
  readonly change: (path: string, value: Json | undefined) => void;
  /** Another method takes the place of this one; what was written can be restored. */
  readonly beginWith: (method: Method) => void;
}

const Context = createContext<Form | null>(null);

export const FormProvider = Context.Provider;

export function useForm(): Form {
  const form = useContext(Context);
  if (form === null) throw new Error("a field stands outside the form");
  return form;
}

export const isMissing = (problem: ConfigProblem) => problem.message.endsWith("is missing");

/**
 * Whether the list of problems leaves open why a start was refused: a warning refuses nothing, and
 * what is missing is a mistake only since the attempt.
 */
export const leavesRefusalOpen = (problems: readonly ConfigProblem[]): boolean =>
  problems.every((one) => one.level === "warning" || isMissing(one));

export function adviceOf(problem: ConfigProblem): string {
  return problem.advice ? `. ${problem.advice}` : "";
}

/** The element a problem leads to; of the empty path the config as text. */
export const fieldId = (path: string) => `field-${path}`;
