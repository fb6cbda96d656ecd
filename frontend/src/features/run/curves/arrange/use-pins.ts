/** The pinned charts: those of the address, else those that this person has kept for the project. */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";

import { meQuery } from "@/api/session";
import { useView } from "@/features/run/view";
import { isText, read, write } from "@/lib/storage";

import { pinsOf, textOf, type Pins } from "./pins";

export function usePins(projectId: string): readonly [Pins, (pins: Pins) => void] {
  const { search, set } = useView();
  const userId = useQuery(meQuery).data?.id;
  const key = `podium.charts.${userId}.${projectId}`;
  const given = search.get("pin");
  const kept = userId === undefined || given !== null ? null : read(localStorage, key, isText);
  const text = given ?? kept ?? "";
  useEffect(() => {
    // So that the address, shared, shows the same.
    if (kept !== null && kept !== "") set({ pin: kept });
  });
  const setPins = (pins: Pins) => {
    if (userId !== undefined) write(localStorage, key, textOf(pins));
    set({ pin: textOf(pins) || null });
  };
  return [pinsOf(text), setPins];
}
