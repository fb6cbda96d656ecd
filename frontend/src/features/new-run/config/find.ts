/** The fields of a form that somebody looks for, by their words or by what is said in the config; pure. */
import type { JsonObject } from "@/api/types";

import { valueAt } from "./paths";
import type { Field, FieldOf } from "./schema";

export type Wanted = (field: Field, path: string) => boolean;

/**
 * What is wanted of these fields: a section that is wanted itself comes whole, another one with what
 * is wanted in it. A list is one thing.
 */
export function found(fields: readonly Field[], wanted: Wanted, prefix = ""): Field[] {
  return fields.flatMap((field) => {
    const path = `${prefix}${field.name}`;
    if (wanted(field, path)) return [field];
    if (field.type !== "section") return [];
    const inside = found(field.fields, wanted, `${path}.`);
    return inside.length > 0 ? [{ ...field, fields: inside }] : [];
  });
}

/** Those whose key, sentence or options have each word of a text. */
export function bySearch(text: string): Wanted {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (field, path) => {
    const own = wordsOf(field, path).toLowerCase();
    return words.every((word) => own.includes(word));
  };
}

function wordsOf(field: Field, path: string): string {
  const said = `${path} ${field.description}`;
  if (field.type === "choice") return `${said} ${field.options.join(" ")}`;
  if (field.type !== "list") return said;
  return [said, ...field.variants.map((one) => `${one.name} ${one.description}`)].join(" ");
}

/**
 * The field that a path of a config stands in: its own, or a reference or a list that it lies within.
 * Null for what the form has no field for, such as an unknown key.
 */
export function placeOf(fields: readonly Field[], path: string, prefix = ""): string | null {
  const [name = "", ...rest] = path.split(".");
  const field = fields.find((one) => one.name === name);
  if (field === undefined) return null;
  const here = `${prefix}${name}`;
  if (rest.length === 0) return here;
  if (field.type === "section") return placeOf(field.fields, rest.join("."), `${here}.`);
  return field.type === "list" ? placeInList(field, here, rest) : here;
}

/** A kind has no field of its own; an item of another kind is taken out of the list. */
function placeInList(
  { variants }: FieldOf<"list">,
  list: string,
  [item = "", ...rest]: readonly string[],
): string | null {
  if (rest.length === 0 || rest[0] === "kind") return list;
  const places = variants.map(({ fields }) => placeOf(fields, rest.join("."), `${list}.${item}.`));
  return places.find((place) => place !== null) ?? null;
}

/** Those that the config says something about, or has to. */
export const bySaid =
  (config: JsonObject): Wanted =>
  (field, path) =>
    field.type !== "section" && (field.isRequired || valueAt(config, path) !== undefined);
