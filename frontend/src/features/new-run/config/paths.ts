/** Values in a config by dotted path, as the service names them: `reward.terms.0.weight`. Pure. */
import type { Json, JsonObject } from "@/api/types";

import { isObject } from "./schema";

export function valueAt(config: Json | undefined, path: string): Json | undefined {
  if (path === "") return config;
  let here = config;
  for (const part of path.split("."))
    if (Array.isArray(here)) here = here[Number(part)];
    else here = isObject(here) && Object.hasOwn(here, part) ? here[part] : undefined;
  return here;
}

/** A copy with the value put in; undefined takes the key, or the item of a list, out. */
export function changed(config: JsonObject, path: string, value: Json | undefined): JsonObject {
  return changedIn(config, path.split("."), value) as JsonObject;
}

function changedIn(here: Json | undefined, path: readonly string[], value: Json | undefined): Json {
  const [key = "", ...rest] = path;
  const inside =
    rest.length === 0 ? () => value : (old: Json | undefined) => changedIn(old, rest, value);
  if (Array.isArray(here))
    return here.flatMap((item, place) => {
      const next = String(place) === key ? inside(item) : item;
      return next === undefined ? [] : [next];
    });
  const { [key]: old, ...others } = isObject(here) ? here : {};
  const next = inside(old);
  if (next === undefined) return others;
  if (!isObject(here) || !(key in here)) return { ...others, [key]: next };
  // The place of a key among the others stays, so the text of the config does not jump.
  return Object.fromEntries(Object.entries(here).map(([k, v]) => [k, k === key ? next : v]));
}

export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, place) => isSame(item, other[place]));
  if (!isObject(one) || !isObject(other)) return false;
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].every((key) => isSame(one[key], other[key]));
}
