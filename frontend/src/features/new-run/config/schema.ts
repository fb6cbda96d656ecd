/**
 * A method's JSON Schema as the fields of a form. Pure: no React and no network.
 *
 * The schema is the only place that knows sections, ranges and defaults; a new key of a run config
 * is on the form without a line here.
 */
import type { Json, JsonObject, Method } from "@/api/types";

interface Common {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  /** What the service takes where nothing is said; undefined where something must be said. */
  readonly fallback: Json | undefined;
  /** The default in words, where `fallback` is null because it depends on other things. */
  readonly whenAbsent: string | null;
}

export interface Variant {
  /** Empty where all items of the list are of one kind, which they do not name. */
  readonly kind: string;
  /** What an item is called on the form: its kind, else its title in words. */
  readonly name: string;
  readonly description: string;
  readonly fields: readonly Field[];
}

type Shape =
  | { readonly type: "number"; readonly isInteger: boolean; readonly range: string }
  | { readonly type: "text"; readonly isLong: boolean; readonly range: string }
  | { readonly type: "switch" }
  /** `custom` is what a value of one's own begins with; null where there are the options alone. */
  | {
      readonly type: "choice";
      readonly options: readonly string[];
      readonly custom: string | null;
    }
  | { readonly type: "texts"; readonly range: string }
  /** `wants` is the kind of model or snapshot that fits. */
  | { readonly type: "reference"; readonly wants: string }
  | { readonly type: "section"; readonly fields: readonly Field[] }
  | {
      readonly type: "list";
      readonly variants: readonly Variant[];
      readonly least: number;
      readonly most: number;
    };

export type Field = Common & Shape;
export type FieldOf<Type extends Field["type"]> = Extract<Field, { type: Type }>;

/** What a control shows that has no value: the field has a default all the same, or nothing. */
export const emptyWord = ({ whenAbsent }: Field): "default" | "none" =>
  whenAbsent === null ? "none" : "default";

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const numberOf = (value: Json | undefined): number | undefined =>
  typeof value === "number" ? value : undefined;

interface SchemaContext {
  readonly defs: JsonObject;
  readonly references: Readonly<Record<string, string>>;
}

/** Every field of a method's config but `method` itself, in the order of the schema. */
export function fieldsOf(method: Method): Field[] {
  const schema = method.json_schema as JsonObject;
  return sectionFields(schema, "", {
    defs: objectOf(schema["$defs"]),
    references: method.references,
  });
}

function sectionFields(schema: JsonObject, prefix: string, context: SchemaContext): Field[] {
  const required = listOf(schema["required"]);
  return Object.entries(objectOf(schema["properties"])).flatMap(([name, property]) => {
    const field = fieldOf(name, objectOf(property), `${prefix}${name}`, context);
    return field === null ? [] : [{ ...field, isRequired: required.includes(name) }];
  });
}

/** Null for a constant: the form does not ask what has one answer. */
function fieldOf(
  name: string,
  property: JsonObject,
  path: string,
  context: SchemaContext,
): Field | null {
  const options = listOf(property["anyOf"]).map(objectOf);
  const isNullable = options.some((option) => option["type"] === "null");
  const chosen = options.find((option) => option["type"] !== "null") ?? {};
  const schema = { ...followed({ ...chosen, ...property }, context.defs) };
  if ("const" in schema) return null;
  const wants = context.references[path];
  const said = wants === undefined ? schema["description"] : property["description"];
  const common: Common = {
    name,
    description: textOf(said) || sentenceFor(wants),
    isRequired: false,
    isNullable,
    fallback: schema["default"],
    whenAbsent: textOf(property["x-default"]) || null,
  };
  if (wants !== undefined) return { ...common, type: "reference", wants };
  return { ...common, ...shapeOf(schema, path, context) };
}

/** For references, which have one description for all of them. */
function sentenceFor(wants: string | undefined): string {
  if (wants === undefined) return "";
  if (wants === "causal_lm")
    return "A language model from the registry or from the Hugging Face Hub.";
  if (wants === "process_model") return "A process reward model.";
  return wants === "reward_model" ? "A reward model." : `A frozen snapshot of ${wants}.`;
}

function shapeOf(schema: JsonObject, path: string, context: SchemaContext): Shape {
  if (isObject(schema["properties"]))
    return { type: "section", fields: sectionFields(schema, `${path}.`, context) };
  const options = schema["enum"] ?? schema["x-choices"];
  if (Array.isArray(options))
    return {
      type: "choice",
      options: options.map(String),
      custom: "x-custom" in schema ? textOf(schema["x-custom"]) : null,
    };
  switch (schema["type"]) {
    case "array":
      return listShape(schema, path, context);
    case "boolean":
      return { type: "switch" };
    case "integer":
    case "number":
      return {
        type: "number",
        isInteger: schema["type"] === "integer",
        range: numberRange(schema),
      };
    default:
      return textShape(schema);
  }
}

function textShape(schema: JsonObject): Shape {
  const most = numberOf(schema["maxLength"]);
  const range = most === undefined ? "" : `at most ${shown(most)} characters`;
  return { type: "text", isLong: (most ?? 0) >= 1000, range };
}

function listShape(schema: JsonObject, path: string, context: SchemaContext): Shape {
  const items = objectOf(schema["items"]);
  if (items["type"] === "string") {
    const most = numberOf(schema["maxItems"]);
    return { type: "texts", range: most === undefined ? "" : `at most ${shown(most)}` };
  }
  const kinds = listOf(items["oneOf"]).map(objectOf);
  return {
    type: "list",
    variants: (kinds.length > 0 ? kinds : [items]).map((one) => variantFrom(one, path, context)),
    least: numberOf(schema["minItems"]) ?? 0,
    most: numberOf(schema["maxItems"]) ?? Number.POSITIVE_INFINITY,
  };
}

function variantFrom(item: JsonObject, path: string, context: SchemaContext): Variant {
  const schema = followed(item, context.defs);
  const kind = textOf(objectOf(objectOf(schema["properties"])["kind"])["const"]);
  return {
    kind,
    name: kind || inWords(textOf(schema["title"])) || "item",
    description: textOf(schema["description"]),
    fields: sectionFields(schema, `${path}.*.`, context),
  };
}

/** "EvaluationSet" is the evaluation set of the glossary. */
const inWords = (title: string) => title.replace(/\B[A-Z]/g, " $&").toLowerCase();

/** What an item of a list is; undefined for a kind that the list does not have. */
export function variantOf({ variants }: FieldOf<"list">, item: Json): Variant | undefined {
  const kind = objectOf(item)["kind"];
  return variants.find((one) => one.kind === "" || one.kind === kind);
}

/** A schema with what it points to; its own words win. */
function followed(schema: JsonObject, defs: JsonObject): JsonObject {
  const name = textOf(schema["$ref"]).split("/").at(-1) ?? "";
  return { ...objectOf(defs[name]), ...schema };
}

const shown = (value: number) => value.toLocaleString("en-US", { maximumFractionDigits: 10 });

/** "0 to 1", "above 0, at most 1", "at least 0": bounds that nobody can type are left out. */
export function numberRange(schema: JsonObject): string {
  const least = numberOf(schema["minimum"]);
  const above = numberOf(schema["exclusiveMinimum"]);
  const below = numberOf(schema["exclusiveMaximum"]);
  const maximum = numberOf(schema["maximum"]);
  const most = maximum !== undefined && Math.abs(maximum) < 2 ** 53 ? maximum : undefined;
  if (least !== undefined && most !== undefined) return `${shown(least)} to ${shown(most)}`;
  return [
    least === undefined ? "" : `at least ${shown(least)}`,
    above === undefined ? "" : `above ${shown(above)}`,
    most === undefined ? "" : `at most ${shown(most)}`,
    below === undefined ? "" : `below ${shown(below)}`,
  ]
    .filter((part) => part !== "")
    .join(", ");
}

export interface Group {
  readonly title: string;
  readonly fields: readonly Field[];
}

/** Model and data first, then what is particular to the method, then what all methods have. */
export function grouped(method: Method, methods: readonly Method[]): Group[] {
  const has = (one: Method, name: string) =>
    name in objectOf((one.json_schema as JsonObject)["properties"]);
  // Those that only sample have no adapters and no evaluations.
  const training = methods.filter((one) => has(one, "eval_every"));
  const asked = training.length > 0 ? training : methods;
  const everywhere = (name: string) => asked.every((one) => has(one, name));
  const fields = fieldsOf(method);
  const references = fields.filter((field) => field.type === "reference");
  const values = fields.filter((field) => field.type !== "reference");
  return [
    { title: "Model and data", fields: inOrder(references) },
    { title: method.title, fields: inOrder(values.filter((field) => !everywhere(field.name))) },
    {
      title: "Training and resources",
      fields: inOrder(values.filter((field) => everywhere(field.name))),
    },
  ].filter((group) => group.fields.length > 0);
}

/** What must be said first, then single values, then sections. */
function inOrder(fields: readonly Field[]): Field[] {
  const rank = (field: Field) =>
    (field.isRequired ? 0 : 2) + (field.type === "section" || field.type === "list" ? 1 : 0);
  return [...fields].sort((a, b) => rank(a) - rank(b));
}
