/** What the metrics of a method mean. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { methodsQuery } from "@/api/runs";

import { explainer, type Explain } from "./explained";

/** Undefined until it is known; without an answer of the service no metric is known. */
export function useExplain(method: string): Explain | undefined {
  const { data, isPending } = useQuery(methodsQuery);
  return useMemo(() => {
    const found = data?.methods.find((one) => one.method === method);
    return isPending ? undefined : explainer(found?.metrics ?? []);
  }, [data, isPending, method]);
}
