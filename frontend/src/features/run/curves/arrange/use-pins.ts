/** The pinned charts: those of the address, else those that this person has kept for the project. */
import { useQuery } from "@tanstack/react-query";

import { meQuery } from "@/api/session";
import { useView } from "@/features/run/view";
import { isText, read, write } from "@/lib/storage";
import { useToldByAddress } from "@/lib/address/use-address";

import { pinsOf, textOf, type Pins } from "./pins";

/** Tells what becomes of the pinned charts that there are now, and is told what became of them. */
export type SetPins = (of: (now: Pins) => Pins) => Pins;

const PIN = "pin";

export function usePins(projectId: string): readonly [Pins, SetPins] {
  const { search, newest, set } = useView();
  const userId = useQuery(meQuery).data?.id;
  const key = `podium.charts.${userId}.${projectId}`;
  const textIn = (address: URLSearchParams): string =>
    address.get(PIN) ?? (userId === undefined ? null : read(localStorage, key, isText)) ?? "";
  const text = textIn(search);
  // So that the address, shared, shows the same.
  useToldByAddress(PIN, text || null);
  const setPins: SetPins = (of) => {
    const next = of(pinsOf(textIn(newest())));
    if (userId !== undefined) write(localStorage, key, textOf(next));
    set({ [PIN]: textOf(next) || null });
    return next;
  };
  return [pinsOf(text), setPins];
}
