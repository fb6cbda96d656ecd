/** The run that is being written: its config, where it began, and one step back. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { validateRun } from "@/api/runs";
import type { Json, JsonObject, Method, Run } from "@/api/types";
import { useSettled } from "@/components/form/use-settled";

import { initialConfig, type Candidates } from "./config/initial-config";
import { changed } from "./config/paths";

/** `preset` is a name; it and `parent` are null for an empty start. */
export interface Start {
  readonly method: Method;
  readonly preset: string | null;
  readonly parent: Run | null;
  /** The parent's checkpoint to go on from; null begins anew. */
  readonly step: number | null;
}

interface State {
  readonly start: Start;
  readonly origin: JsonObject;
  readonly config: JsonObject;
}

/** What an address says of the first config. */
export interface Given {
  /** References by their path: `?model=ID&reward.terms.0.model=ID`. */
  readonly references: readonly (readonly [string, string])[];
  /** Values by dotted path that the parent's failure advises: `?from=ID&advised`. */
  readonly advised: JsonObject;
}

const NOTHING: Given = { references: [], advised: {} };

function stateOf(start: Start, chosen: JsonObject, candidates: Candidates, given = NOTHING): State {
  const preset = start.method.presets.find(({ name }) => name === start.preset);
  const values = (start.parent?.config ?? preset?.config ?? {}) as JsonObject;
  const begin = initialConfig(start.method, values, chosen, candidates);
  const origin = given.references.reduce(
    (config, [path, id]) => changed(config, path, { id }),
    begin,
  );
  const config = Object.entries(given.advised).reduce(
    (here, [path, value]) => changed(here, path, value),
    origin,
  );
  return { start, origin, config };
}

export function useDraft(first: Start, given: Given, candidates: Candidates) {
  const [state, setState] = useState(() => stateOf(first, {}, candidates, given));
  const [before, setBefore] = useState<State | null>(null);
  return {
    ...state,
    begin: (start: Start) => {
      setBefore(state.config === state.origin ? null : state);
      setState(stateOf(start, state.config, candidates));
    },
    /** Another step of the same parent changes no setting. */
    continueFrom: (step: number | null) => setState({ ...state, start: { ...state.start, step } }),
    /** Null where nothing was lost by beginning anew. */
    undo:
      before === null
        ? null
        : () => {
            setState(before);
            setBefore(null);
          },
    change: (path: string, value: Json | undefined) =>
      setState({ ...state, config: changed(state.config, path, value) }),
    replace: (config: JsonObject) => setState({ ...state, config }),
  };
}

export type Draft = ReturnType<typeof useDraft>;

/** What the service says of the config, a moment after the last change. */
export function useValidation(projectId: string, config: JsonObject) {
  const text = JSON.stringify(config);
  const settled = useSettled(text);
  const query = useQuery({
    queryKey: ["validation", projectId, settled],
    queryFn: ({ signal }) =>
      validateRun(
        {
          project_id: projectId,
          name: "unnamed",
          config: JSON.parse(settled) as JsonObject,
          priority: 0,
        },
        signal,
      ),
    placeholderData: keepPreviousData,
  });
  const isCurrent = settled === text && !query.isPlaceholderData && query.data !== undefined;
  return { ...query, isCurrent };
}
