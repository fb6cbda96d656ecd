/** The markers of a run, where they lie on the axis that is shown, and which kinds are shown. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { eventsQuery, metricsQuery } from "@/api/runs";
import type { Axis, LiveCurves } from "@/charts/live-curves";
import { KINDS, type Marker, type MarkerKind } from "@/charts/markers/folding";
import type { Explain } from "@/components/metrics/explained";
import { asListed, listedIn, useView } from "@/features/run/view";

import { markersOf, rulerOf, type Ruler } from "./markers";

const POINTS = 1000;
const NOWHERE: Ruler = () => null;

export interface Markers {
  /** Those of the kinds that are shown, ascending in x. */
  readonly shown: readonly Marker[];
  /** How many there are of each kind, shown or not. */
  readonly counts: Readonly<Record<MarkerKind, number>>;
  readonly hidden: ReadonlySet<string>;
  readonly toggle: (kind: MarkerKind) => void;
}

export function useMarkers(
  runId: string,
  live: LiveCurves,
  tick: number,
  explain: Explain | undefined,
): Markers {
  const { search, set } = useView();
  const events = useQuery(eventsQuery(runId)).data;
  const ruler = useRuler(runId, live, events?.length ?? 0);
  const { axis } = live;
  const all = useMemo(
    () =>
      explain === undefined
        ? []
        : markersOf(events ?? [], live.curves, explain, { axis, origin: live.origin, ruler }),
    // The curves are changed in place; `tick` says when.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [events, live, tick, explain, axis, ruler],
  );
  const wanted = search.get("hide") ?? "";
  const hidden = useMemo(() => new Set(wanted.split("~").filter(Boolean)), [wanted]);
  const shown = useMemo(() => all.filter(({ kind }) => !hidden.has(kind)), [all, hidden]);
  const toggle = (kind: MarkerKind) =>
    set((now) => {
      const before = listedIn(now, "hide");
      return asListed(
        "hide",
        KINDS.filter((one) => before.includes(one) !== (one === kind)),
      );
    });
  const count = (kind: MarkerKind) => all.filter((one) => one.kind === kind).length;
  const counts = {
    alert: count("alert"),
    resume: count("resume"),
    note: count("note"),
    checkpoint: count("checkpoint"),
    evaluation: count("evaluation"),
  };
  return { shown, counts, hidden, toggle };
}

/** Steps on the axis of tokens: by the longest curve, which the server answers on both axes. */
function useRuler(runId: string, live: LiveCurves, nEvents: number): Ruler {
  const name = live.axis === "tokens" ? longest(live) : undefined;
  const { data } = useQuery({
    // Asked again when there is more to place.
    queryKey: ["metrics", [runId], "ruler", name, nEvents],
    queryFn: async ({ client }) => {
      const columns = async (x: Axis) => {
        const query = metricsQuery([runId], { names: name, x, points: POINTS });
        return (await client.fetchQuery({ ...query, staleTime: 0 })).series[0]?.x ?? [];
      };
      const [steps, tokens] = await Promise.all([columns("step"), columns("tokens")]);
      return { steps, tokens };
    },
    enabled: name !== undefined && nEvents > 0,
    placeholderData: keepPreviousData,
  });
  return useMemo(() => (data === undefined ? NOWHERE : rulerOf(data.steps, data.tokens)), [data]);
}

function longest({ curves }: LiveCurves): string | undefined {
  const lengths = [...curves].map(([name, { x }]) => [name, x.length] as const);
  return lengths.reduce<readonly [string | undefined, number]>(
    (most, one) => (one[1] > most[1] ? one : most),
    [undefined, 0],
  )[0];
}
