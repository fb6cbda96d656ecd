/**
 * What a page shows, as its address says it: the only place that reads and changes the search of an
 * address (see eslint.config.js).
 *
 * A change is made to the address as it is now, not as it was drawn last: of two quick changes the
 * second would undo the first. `RouterProvider` draws a change at once (`useTransitions={false}`), so
 * a field may have its value in the address.
 */
import { useCallback, useLayoutEffect, useMemo } from "react";
// The only place that may: see eslint.config.js.
import { useLocation, useNavigate, useNavigation } from "react-router";

import { useIsHere } from "./use-go";

/** Null takes a name out of the address. */
export type Values = Readonly<Record<string, string | null>>;
export type Change = (now: URLSearchParams) => URLSearchParams;

export function withValues(search: URLSearchParams, values: Values): URLSearchParams {
  const next = new URLSearchParams(search);
  for (const [name, value] of Object.entries(values))
    if (value === null) next.delete(name);
    else next.set(name, value);
  return next;
}

/** As it is now, drawn or not. */
const newest = () => new URLSearchParams(window.location.search);

export function useAddress() {
  const { pathname, search: text } = useLocation();
  const navigate = useNavigate();
  const isHere = useIsHere();
  const search = useMemo(() => new URLSearchParams(text), [text]);
  /** Nothing if its person has gone elsewhere since. `isNew`: the way back leads to what was shown. */
  const change = useCallback(
    (of: Change, { isNew = false }: { isNew?: boolean } = {}) => {
      if (!isHere() || window.location.pathname !== pathname) return;
      const now = newest();
      const next = of(now).toString();
      if (next !== now.toString()) void navigate({ search: next }, { replace: !isNew });
    },
    [isHere, navigate, pathname],
  );
  const set = useCallback(
    (values: Values | ((now: URLSearchParams) => Values)) =>
      change((now) => withValues(now, typeof values === "function" ? values(now) : values)),
    [change],
  );
  return { search, newest, change, set };
}

/**
 * Says in the address what a page shows without having been asked for it, so that others who get the
 * address see the same. Not while the page behind a link loads: only a person may take back a click.
 */
export function useToldByAddress(name: string, value: string | null): void {
  const { set } = useAddress();
  const isIdle = useNavigation().state === "idle";
  // Not in a passive effect: a click may come before one.
  useLayoutEffect(() => {
    if (isIdle && value !== null) set((now) => (now.has(name) ? {} : { [name]: value }));
  }, [isIdle, name, value, set]);
}
