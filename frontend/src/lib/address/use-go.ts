/**
 * Leads to another page, unless its person has gone elsewhere since.
 *
 * The function belongs to the moment in which it was rendered: called later, when an answer has come,
 * it does nothing if the part of the page that asked is gone, another page is shown, or a link was
 * clicked whose page still loads. So work calls the one that it had when it began: the callbacks that
 * are given to mutate() do, those of useMutation() have that of the last rendering.
 */
import { useCallback, useLayoutEffect, useRef } from "react";
import { useLocation, useNavigate, useNavigation, type NavigateOptions } from "react-router";

/** Whether its person is still where this was rendered. */
export function useIsHere(): () => boolean {
  const { pathname } = useLocation();
  // A click on a link counts before its page is there.
  const bound = useNavigation().location?.pathname ?? pathname;
  const latest = useRef<string | null>(bound);
  useLayoutEffect(() => {
    latest.current = bound;
    return () => {
      latest.current = null;
    };
  }, [bound]);
  return useCallback(() => latest.current === bound, [bound]);
}

export type Go = (to: string, options?: NavigateOptions) => Promise<void>;

export function useGo(): Go {
  // The only place that may: see eslint.config.js.
  const navigate = useNavigate();
  const isHere = useIsHere();
  return useCallback(
    async (to, options) => {
      if (isHere()) await navigate(to, options);
    },
    [navigate, isHere],
  );
}
