/** The fields of a form that somebody looks for, by their words or by what is said in the config; pure. */
import type { JsonObject } from "@/api/types";

import { valueAt } from "./paths";
import type { Field } from "./schema";

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

/** Those that the config says something about, or has to. */
export const bySaid =
  (config: JsonObject): Wanted =>
  (field, path) =>
    field.type !== "section" && (field.isRequired || valueAt(config, path) !== undefined);
