/** The part of JSON Schema that run configs use, read for a form; pure. */
import type { Json, JsonObject } from "@/api/types";

export interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: Json;
  readonly const?: Json;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly maxLength?: number;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

export type Defs = Readonly<Record<string, Schema>>;

export type FieldKind =
  "reference" | "choice" | "flag" | "number" | "text" | "group" | "terms" | "hidden";

export interface FieldShape {
  readonly kind: FieldKind;
  readonly schema: Schema;
  readonly isOptional: boolean;
  readonly default: Json | undefined;
  readonly description: string;
}

const nameOf = (ref: string): string => ref.split("/").at(-1) ?? "";

function resolved(schema: Schema, defs: Defs): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...own } = schema;
  return { ...defs[nameOf($ref)], ...own };
}

/** What kind of control a property wants; null beside a type makes it optional. */
export function shapeOf(property: Schema, defs: Defs): FieldShape {
  const variants = property.anyOf ?? [];
  const isOptional = variants.some((one) => one.type === "null");
  const inner = variants.find((one) => one.type !== "null") ?? property;
  const schema = resolved(inner, defs);
  return {
    kind: kindOf(inner, schema),
    schema,
    isOptional,
    default: property.default,
    description: property.description ?? schema.description ?? "",
  };
}

function kindOf(given: Schema, schema: Schema): FieldKind {
  if (given.$ref !== undefined && nameOf(given.$ref) === "Reference") return "reference";
  if (schema.const !== undefined) return "hidden";
  if (schema.enum !== undefined) return "choice";
  switch (schema.type) {
    case "boolean":
      return "flag";
    case "integer":
    case "number":
      return "number";
    case "array":
      return "terms";
    case "object":
      return "group";
    default:
      return "text";
  }
}

/** The variants of a list whose items say their `kind`. */
export function variantsOf(list: Schema, defs: Defs): Schema[] {
  return (list.items?.oneOf ?? []).map((variant) => resolved(variant, defs));
}

export function kindName(variant: Schema): string {
  const kind = variant.properties?.["kind"];
  return String(kind?.const ?? kind?.default ?? "");
}

/** "> 0, at most 1, default 0.0001", or "" where there is nothing to say. */
export function rangeText({ schema, isOptional, default: fallback }: FieldShape): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const shown = (n: number) =>
    Math.abs(n) >= 1e6 ? n.toExponential(0).replace("e+", "e") : String(n);
  const parts = [
    minimum !== undefined ? `at least ${shown(minimum)}` : null,
    exclusiveMinimum !== undefined ? `above ${shown(exclusiveMinimum)}` : null,
    maximum !== undefined ? `at most ${shown(maximum)}` : null,
    exclusiveMaximum !== undefined ? `below ${shown(exclusiveMaximum)}` : null,
    fallback !== undefined && fallback !== null && fallback !== ""
      ? `default ${String(fallback)}`
      : null,
    isOptional && (fallback === null || fallback === undefined) ? "may be left empty" : null,
  ];
  return parts.filter((part) => part !== null).join(", ");
}

export type Path = readonly (string | number)[];

export function valueAt(value: Json | undefined, path: Path): Json | undefined {
  return path.reduce<Json | undefined>((at, key) => {
    if (Array.isArray(at)) return at[Number(key)];
    if (at !== null && typeof at === "object") return at[String(key)];
    return undefined;
  }, value);
}

/** A copy with one place changed; undefined takes the key away. Numbers in the path make lists. */
export function withValue(value: Json | undefined, path: Path, next: Json | undefined): Json {
  const [key, ...rest] = path;
  if (key === undefined) return next ?? null;
  if (typeof key === "number") {
    const list = Array.isArray(value) ? [...value] : [];
    if (rest.length === 0 && next === undefined) return list.filter((_, place) => place !== key);
    list[key] = withValue(list[key], rest, next);
    return list;
  }
  const object: JsonObject =
    value !== null && typeof value === "object" && !Array.isArray(value) ? { ...value } : {};
  if (rest.length === 0 && next === undefined) {
    const { [key]: _gone, ...kept } = object;
    return kept;
  }
  object[key] = withValue(object[key], rest, next);
  return object;
}

/** "reward.terms.0.model" -> ["reward", "terms", 0, "model"]. */
export function pathOf(dotted: string): Path {
  return dotted.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

/** What a reference at this path must point to; numbers in the path match "*". */
export function wantedAt(references: Readonly<Record<string, string>>, path: Path): string {
  return references[path.map((key) => (typeof key === "number" ? "*" : key)).join(".")] ?? "";
}

/** learning_rate -> "learning rate"; the names of the config stay recognisable. */
export function labelOf(key: string): string {
  return key.replaceAll("_", " ");
}
