/** Where a new run begins: a preset, a past run or nothing; and what has changed since. Pure. */
import type { Json, JsonObject, Method, Model, Snapshot } from "@/api/types";

import { isSame } from "./paths";
import { fieldsOf, isObject, variantOf, type Field, type FieldOf, type Variant } from "./schema";

/** What references can point to. */
export interface Candidates {
  readonly models: readonly Model[];
  readonly snapshots: readonly Snapshot[];
}

/** The models or snapshots that a reference which wants this kind may point to, newest first. */
export const fitting = (candidates: Candidates, wants: string): readonly (Model | Snapshot)[] =>
  [...candidates.models, ...candidates.snapshots].filter((one) => one.kind === wants);

/**
 * A config to begin with; a section that is said in part keeps its required rest. References that were chosen before are kept where the method has them;
 * where only one model or snapshot fits, it is taken.
 */
export function initialConfig(
  method: Method,
  values: JsonObject,
  chosen: JsonObject,
  candidates: Candidates,
): JsonObject {
  const fields = fieldsOf(method);
  const config: JsonObject = { method: method.method };
  for (const field of fields) {
    const value = values[field.name];
    const first = firstValue(field, chosen[field.name], candidates);
    const isPart = field.type === "section" && isObject(value) && isObject(first);
    const both = isPart ? { ...first, ...value } : (value ?? first);
    if (both !== undefined) config[field.name] = both;
  }
  return sparse(fields, config);
}

function firstValue(
  field: Field,
  chosen: Json | undefined,
  candidates: Candidates,
): Json | undefined {
  if (!field.isRequired) return undefined;
  if (field.type === "reference") return reference(field.wants, chosen, candidates);
  if (field.type === "list" && field.least > 0) return [firstItem(field, candidates)];
  if (field.type !== "section") return undefined;
  const inside = field.fields
    .map((one): [string, Json | undefined] => [one.name, firstValue(one, undefined, candidates)])
    .filter((pair): pair is [string, Json] => pair[1] !== undefined);
  return Object.fromEntries(inside);
}

function firstItem(field: FieldOf<"list">, candidates: Candidates): JsonObject {
  const variant = field.variants[0];
  return variant === undefined ? {} : newItem(variant, candidates);
}

/** A new item of a list, with its references filled in where only one thing fits. */
export function newItem({ kind, fields }: Variant, candidates: Candidates): JsonObject {
  const item: JsonObject = kind === "" ? {} : { kind };
  for (const field of fields) {
    const value = firstValue(field, undefined, candidates);
    if (value !== undefined) item[field.name] = value;
  }
  return item;
}

function reference(
  wants: string,
  chosen: Json | undefined,
  candidates: Candidates,
): Json | undefined {
  const fits = fitting(candidates, wants);
  const only = fits.length === 1 ? fits[0] : undefined;
  if (isObject(chosen)) {
    const isHub = typeof chosen["hub_id"] === "string";
    if (isHub || fits.some((one) => one.id === chosen["id"])) return chosen;
  }
  return only === undefined ? undefined : { id: only.id };
}

/**
 * The config without what is the default anyway. Unknown keys are kept, the service names them; not
 * those that are null, for past runs have stored what their method did not use.
 */
export function sparse(fields: readonly Field[], config: JsonObject): JsonObject {
  const byName = new Map(fields.map((field) => [field.name, field]));
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(config)) {
    const field = byName.get(name);
    const thin = field === undefined ? (value ?? undefined) : sparseValue(field, value);
    if (thin !== undefined) kept[name] = thin;
  }
  return kept;
}

function sparseValue(field: Field, value: Json): Json | undefined {
  if (field.type === "section" && isObject(value)) {
    const inside = sparse(field.fields, value);
    return Object.keys(inside).length > 0 || field.isNullable ? inside : undefined;
  }
  if (field.type === "list" && Array.isArray(value) && value.length > 0)
    return value.map((item) => {
      if (!isObject(item)) return item;
      const variant = variantOf(field, item);
      return variant === undefined ? item : sparse(variant.fields, item);
    });
  return isSame(value, field.fallback) ? undefined : value;
}

export interface Difference {
  readonly path: string;
  /** Undefined stands for the default. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

export function differences(before: JsonObject, after: JsonObject): Difference[] {
  const [old, now] = [leaves(before), leaves(after)];
  const paths = new Set([...old.keys(), ...now.keys()]);
  return [...paths]
    .map((path) => ({ path, before: old.get(path), after: now.get(path) }))
    .filter((one) => !isSame(one.before, one.after));
}

const isReference = (value: JsonObject) => "id" in value || "hub_id" in value;

function leaves(value: Json, path = "", found = new Map<string, Json>()): Map<string, Json> {
  const isInner = Array.isArray(value) || (isObject(value) && !isReference(value));
  const entries = isInner ? Object.entries(value) : [];
  if (path !== "" && entries.length === 0) found.set(path, value);
  for (const [key, inside] of entries) leaves(inside, path === "" ? key : `${path}.${key}`, found);
  return found;
}

/** A name that tells runs apart at a glance and that no other run of the project has. */
export function suggestedName(
  config: JsonObject,
  fields: readonly Field[],
  taken: ReadonlySet<string>,
): string {
  const part = (section: string, key: string, prefix: string): string => {
    const inside = config[section];
    const value = isObject(inside) ? inside[key] : undefined;
    return typeof value === "number" ? `${prefix}${value}` : "";
  };
  const text = (value: Json | undefined) => (typeof value === "string" ? value : "");
  const usual = fields.find(({ name }) => name === "estimator")?.fallback;
  const estimator = text(config["estimator"]) || text(usual);
  const seed = config["seed"];
  const base = [
    (estimator || text(config["method"]) || "run").replaceAll("_", "-"),
    part("kl", "coef", "b"),
    part("lora", "r", "lora"),
    part("optim", "lr", "lr"),
    typeof seed === "number" && seed !== 0 ? `s${seed}` : "",
  ]
    .filter((word) => word !== "")
    .join("-");
  if (!taken.has(base)) return base;
  let copy = 2;
  while (taken.has(`${base}-${copy}`)) copy += 1;
  return `${base}-${copy}`;
}
