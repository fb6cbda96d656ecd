/** What methods and kinds of models are called on screen; the service knows the titles of methods. */
import { useQuery } from "@tanstack/react-query";

import { methodsQuery } from "@/api/runs";
import type { Model, Run } from "@/api/types";
import { words } from "@/lib/format";

export const MODEL_KIND_NAMES: Readonly<Record<Model["kind"], string>> = {
  causal_lm: "language model",
  reward_model: "reward model",
  process_model: "process reward model",
};

/** The title of a method, such as "Supervised fine-tuning" for sft. */
export function MethodTitle({ method }: { method: string }) {
  const { data } = useQuery(methodsQuery);
  return data?.methods.find((one) => one.method === method)?.title ?? words(method);
}

/** The method of a run, with the estimator where it has one. */
export function MethodName({ run }: { run: Run }) {
  return (
    <>
      <MethodTitle method={run.method} />
      {run.estimator !== null && `, ${run.estimator}`}
    </>
  );
}
