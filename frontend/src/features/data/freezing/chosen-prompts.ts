/** Which prompts a snapshot takes: by their tags and by the values of their metadata. Pure. */
import type { PromptGroup, PromptGroups, SnapshotFilter } from "@/api/types";
import { number } from "@/lib/format";

import type { Kind } from "./taken";

export type Value = string | number | boolean;

/** At each key one of its values, and one of the tags; nothing chosen = every prompt. */
export interface Chosen {
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, readonly Value[]>>;
}

export const EVERY: Chosen = { tags: [], metadata: {} };

/** `key` null: the tags. */
export interface Facet {
  readonly key: string | null;
  readonly values: readonly { readonly value: Value; readonly prompts: number }[];
}

export const isEvery = ({ tags, metadata }: Chosen): boolean =>
  tags.length === 0 && Object.values(metadata).every((values) => values.length === 0);

/** What tells prompts apart: keys whose value not all have, and tags that not all have. */
export function facetsOf(groups: readonly PromptGroup[]): Facet[] {
  const total = nOf(groups);
  const keys = new Set(groups.flatMap(({ metadata }) => Object.keys(metadata)));
  const facets = [...keys].map((key) => facetOf(key, groups, ({ metadata }) => metadata[key]));
  const tags = facetOf(null, groups, ({ tags: own }) => own);
  return [...facets.sort((a, b) => (a.key ?? "").localeCompare(b.key ?? "")), tags].filter(
    ({ values }) => values.some(({ prompts }) => prompts < total),
  );
}

function facetOf(
  key: string | null,
  groups: readonly PromptGroup[],
  of: (group: PromptGroup) => Value | readonly Value[] | undefined,
): Facet {
  const counts = new Map<Value, number>();
  for (const group of groups) {
    const found = of(group) ?? [];
    for (const value of Array.isArray(found) ? (found as readonly Value[]) : [found as Value])
      counts.set(value, (counts.get(value) ?? 0) + group.prompts);
  }
  const values = [...counts].map(([value, prompts]) => ({ value, prompts }));
  return { key, values: values.sort((a, b) => inOrder(a.value, b.value)) };
}

const inOrder = (a: Value, b: Value): number =>
  typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b), undefined, { numeric: true });

const nOf = (groups: readonly PromptGroup[]) => groups.reduce((n, one) => n + one.prompts, 0);

/** How many prompts are like this; null: what was counted does not tell them apart. */
export function nChosen(counted: PromptGroups, { tags, metadata }: Chosen): number | null {
  const { groups, has_tags: hasTags } = counted;
  const wanted = Object.entries(metadata).filter(([, values]) => values.length > 0);
  if ((tags.length > 0 && !hasTags) || wanted.some(([key]) => !isCounted(counted, key)))
    return null;
  return nOf(
    groups.filter(
      (group) =>
        (tags.length === 0 || group.tags.some((tag) => tags.includes(tag))) &&
        wanted.every(([key, values]) => {
          const value = group.metadata[key];
          return value !== undefined && values.includes(value);
        }),
    ),
  );
}

const isCounted = (
  { groups, left_out: leftOut, has_more_keys: hasMore }: PromptGroups,
  key: string,
) => !leftOut.includes(key) && (!hasMore || groups.some(({ metadata }) => key in metadata));

export const valuesAt = (chosen: Chosen, key: string | null): readonly Value[] =>
  key === null ? chosen.tags : (chosen.metadata[key] ?? []);

/** With the value chosen that was not, or the other way round. */
export function toggled(chosen: Chosen, key: string | null, value: Value): Chosen {
  const now = valuesAt(chosen, key);
  const next = now.includes(value) ? now.filter((one) => one !== value) : [...now, value];
  return key === null
    ? { ...chosen, tags: next.map(String) }
    : { ...chosen, metadata: { ...chosen.metadata, [key]: next } };
}

/** As the service asks for it. */
export function filterOf({ tags, metadata }: Chosen): Partial<SnapshotFilter> {
  const named = Object.entries(metadata).filter(([, values]) => values.length > 0);
  return {
    ...(tags.length > 0 && { tags: [...tags] }),
    ...(named.length > 0 && {
      metadata: Object.fromEntries(named.map(([key, values]) => [key, [...values]])),
    }),
  };
}

/** `counted` undefined: it is not known yet. */
export function chosenTaken(kind: Kind, counted: PromptGroups | undefined, chosen: Chosen): string {
  const n = counted === undefined ? null : nChosen(counted, chosen);
  if (n === 0) return "No prompt is like this.";
  const prompts =
    n === null
      ? `prompts with ${filterText(filterOf(chosen))}`
      : `${number(n)} of ${number(nOf(counted?.groups ?? []))} prompts`;
  return kind === "prompts"
    ? `The snapshot takes ${prompts}.`
    : `The snapshot takes the ${kind} of ${prompts}, if they have any.`;
}

/** The filter of a snapshot in words: `split test; level 2 or 3; tag a`. "": every prompt. */
export function filterText(filter: Readonly<Record<string, unknown>>): string {
  const { tags, metadata } = chosenIn(filter);
  const named = Object.entries(metadata).map(([key, values]) => `${key} ${orOf(values)}`);
  const tagged = tags.length > 0 ? [`${tags.length === 1 ? "tag" : "tags"} ${orOf(tags)}`] : [];
  return [...named, ...tagged].join("; ");
}

const orOf = (values: readonly Value[]) => values.map(String).join(" or ");

/** What a link asks to be chosen; whatever else it says is left out. */
export function chosenFrom(text: string | null): Chosen {
  if (text === null) return EVERY;
  try {
    return chosenIn(JSON.parse(text) as unknown);
  } catch {
    return EVERY;
  }
}

export const linkOf = (chosen: Chosen): string => JSON.stringify(filterOf(chosen));

function chosenIn(said: unknown): Chosen {
  const { tags, metadata } = (isObject(said) ? said : {}) as Record<string, unknown>;
  const named = isObject(metadata) ? Object.entries(metadata) : [];
  const known = named.map(([key, values]) => [key, plain(values)] as const);
  return {
    tags: plain(tags).filter((tag) => typeof tag === "string"),
    metadata: Object.fromEntries(known.filter(([, values]) => values.length > 0)),
  };
}

const isObject = (said: unknown): said is Readonly<Record<string, unknown>> =>
  typeof said === "object" && said !== null && !Array.isArray(said);

const plain = (said: unknown): Value[] =>
  Array.isArray(said)
    ? (said as unknown[]).filter((one): one is Value =>
        ["string", "number", "boolean"].includes(typeof one),
      )
    : [];
