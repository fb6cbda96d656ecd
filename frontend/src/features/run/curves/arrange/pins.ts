/** Which charts a reader has pinned to the top, and in which order; pure. */

export type Pins = readonly string[];

const MOST_PINS = 24;
const LONGEST_NAME = 100;

/** Names of metrics have no `~`. */
export const textOf = (pins: Pins): string => pins.join("~");

/** From an address or from storage: whatever stands there. */
export function pinsOf(text: string): Pins {
  const names = text.split("~").filter((name) => name !== "" && name.length <= LONGEST_NAME);
  return [...new Set(names)].slice(0, MOST_PINS);
}

/** Behind the others, or no longer pinned. */
export function toggled(pins: Pins, name: string): Pins {
  const others = pins.filter((one) => one !== name);
  return others.length < pins.length ? others : [...pins, name].slice(-MOST_PINS);
}

/** To the place of another, which moves aside. */
export function movedTo(pins: Pins, name: string, target: string): Pins {
  const [from, to] = [pins.indexOf(name), pins.indexOf(target)];
  if (from < 0 || to < 0) return pins;
  return pins.toSpliced(from, 1).toSpliced(to, 0, name);
}

/** Before its neighbour among those that are shown (-1), or behind it (1). */
export function movedBy(pins: Pins, shown: Pins, name: string, by: -1 | 1): Pins {
  const neighbour = shown[shown.indexOf(name) + by];
  return neighbour === undefined ? pins : movedTo(pins, name, neighbour);
}
