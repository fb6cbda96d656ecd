/** What every field of the form needs besides its own value. */
import { createContext, useContext } from "react";

import type { ConfigProblem, Json, Method, Model, Snapshot } from "@/api/types";

import type { Defs, Path } from "./schema";

export interface FormContext {
  readonly projectId: string;
  readonly defs: Defs;
  readonly references: Method["references"];
  readonly models: readonly Model[];
  readonly snapshots: readonly Snapshot[];
  readonly problems: readonly ConfigProblem[];
  readonly set: (path: Path, value: Json | undefined) => void;
}

export const Form = createContext<FormContext | null>(null);

export function useForm(): FormContext {
  const form = useContext(Form);
  if (form === null) throw new Error("a field stands outside the form");
  return form;
}

/** What the API says about exactly this place. */
export function problemsAt(problems: readonly ConfigProblem[], path: Path): ConfigProblem[] {
  const dotted = path.join(".");
  return problems.filter((problem) => problem.path === dotted);
}
