/** Problems with known answers: which, of which levels, how many. Their job is in the address. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, type FormEvent } from "react";

import { Problem } from "@/api/client";
import { hasEnded, jobQuery, makeProblemSet } from "@/api/projects";
import { meQuery } from "@/api/session";
import type { ProblemSetBody } from "@/api/types";
import { Field } from "@/components/form/field";
import { Segmented } from "@/components/segmented";
import { Failure, NoAnswer } from "@/components/states";
import { useAddress, useToldByAddress } from "@/lib/address/use-address";
import { number } from "@/lib/format";
import { randomId } from "@/lib/random-id";
import { isText, read, remove, write } from "@/lib/storage";

import { MadeSet } from "./made-set";
import {
  bodyOf,
  levelsOf,
  MOST_OF_LEVEL,
  MOST_TOGETHER,
  NAMES,
  ofSet,
  PROPOSED,
  SETS,
  together,
  wrongWith,
  type SetName,
  type Typed,
} from "./sets";

const SPLITS = [
  ["train", "train"],
  ["test", "test"],
] as const;

/** The job, if it is one of these; how it was asked for, if it cannot be seen. */
function useJob(projectId: string, jobId: string | null) {
  const query = useQuery({ ...jobQuery(jobId ?? ""), enabled: jobId !== null });
  const { data, error } = query;
  if (jobId === null) return { job: undefined, unseen: null };
  if (error !== null && (data === undefined || (!hasEnded(data) && isLasting(error))))
    return { job: undefined, unseen: query };
  // An address may hold any job.
  const isOurs = data?.kind === "problem_set" && data.project_id === projectId;
  return { job: isOurs ? data : undefined, unseen: null };
}

/** Starts a job; what is sent again after a lost answer stays one job. */
function useMaking(projectId: string) {
  const client = useQueryClient();
  const { search, set } = useAddress();
  // For whoever comes back without the address: the last one that this tab has begun.
  const key = `podium.made.${projectId}.${useQuery(meQuery).data?.id ?? ""}`;
  const jobId = search.get("made") ?? read(sessionStorage, key, isText);
  useToldByAddress("made", jobId);
  const sent = useRef<{ text: string; key: string } | null>(null);
  const start = useMutation({
    mutationFn: (body: ProblemSetBody) => {
      const text = JSON.stringify(body);
      if (sent.current?.text !== text) sent.current = { text, key: randomId() };
      return makeProblemSet(projectId, body, sent.current.key);
    },
    onSuccess: (begun) => {
      sent.current = null;
      // Known at once: a second click would begin another one.
      client.setQueryData(jobQuery(begun.id).queryKey, begun);
      write(sessionStorage, key, begun.id);
      set({ made: begun.id });
    },
  });
  const { job, unseen } = useJob(projectId, jobId);
  // One that cannot be seen just now may be at work.
  const isHidden = unseen !== null && !isLasting(unseen.error);
  return {
    start,
    job,
    unseen,
    isPending: start.isPending || isHidden || (job !== undefined && !hasEnded(job)),
    forget: () => {
      remove(sessionStorage, key);
      set({ made: null });
    },
  };
}

export function ProblemSetForm({ projectId }: { projectId: string }) {
  const [typed, setTyped] = useState(PROPOSED);
  const form = useRef<HTMLFormElement>(null);
  const { start, job, unseen, isPending, forget } = useMaking(projectId);
  const body = bodyOf(typed);
  const wrong = { ...refusedFields(start.error, start.variables, body), ...wrongWith(typed) };
  const toWrong = () => form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  // When it is drawn which fields the service refuses.
  useEffect(() => {
    if (start.error instanceof Problem && Object.keys(start.error.fields).length > 0) toWrong();
  }, [start.error]);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (Object.keys(wrongWith(typed)).length > 0) toWrong();
    else if (!isPending) start.mutate(body);
  };
  return (
    <>
      <section className="card padded">
        <h2>Make problems</h2>
        <p className="muted about-problems">
          Prompts with known answers, for rewards that check them. The same values make the same
          problems, and no problem of one split is in the other. On a command line,{" "}
          <code>podium problems make</code> writes them to a file.
        </p>
        <form ref={form} className="form" aria-label="Make problems" noValidate onSubmit={onSubmit}>
          <Fields typed={typed} wrong={wrong} onChange={setTyped} />
          <div className="row">
            <button type="submit" className="btn primary" aria-disabled={isPending}>
              {isPending ? "Making…" : "Make and import"}
            </button>
            {wrong.count === undefined && <span className="small muted">{together(typed)}</span>}
          </div>
          {start.error !== null && <Failure error={start.error} />}
        </form>
      </section>
      {job !== undefined && <MadeSet job={job} projectId={projectId} onDismiss={forget} />}
      {unseen !== null && <Unseen query={unseen} onDismiss={forget} />}
    </>
  );
}

/** Asking again would not help. */
const isLasting = (error: unknown) => error instanceof Problem && !error.isPassing;

/** A job that was forgotten, or is somebody else's; or the service does not answer. */
function Unseen(props: { query: Parameters<typeof NoAnswer>[0]["query"]; onDismiss: () => void }) {
  const { error } = props.query;
  if (isLasting(error)) return <Failure error={error} onDismiss={props.onDismiss} />;
  return <NoAnswer query={props.query} about="How far the problems are is not known." />;
}

type Wrong = Partial<Record<string, string>>;

/** What the service said of single fields, as long as they are as they were sent. */
function refusedFields(
  error: unknown,
  sent: ProblemSetBody | undefined,
  now: ProblemSetBody,
): Wrong {
  const isOfThis = error instanceof Problem && JSON.stringify(sent) === JSON.stringify(now);
  return isOfThis ? error.fields : {};
}

function Fields(props: { typed: Typed; wrong: Wrong; onChange: (typed: Typed) => void }) {
  const { typed, wrong, onChange } = props;
  const { levels, about } = SETS[typed.set];
  const level = (name: "first" | "last", label: string) => (
    <Field label={label} wrong={name === "first" ? wrong["levels"] : undefined}>
      {(tied) => (
        <select
          {...tied}
          className="input"
          value={typed[name]}
          onChange={(event) => {
            const to = Number(event.target.value);
            const other = name === "first" ? Math.max(to, typed.last) : Math.min(to, typed.first);
            onChange({ ...typed, [name]: to, [name === "first" ? "last" : "first"]: other });
          }}
        >
          {levelsOf(typed).map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      )}
    </Field>
  );
  const whole = (name: "count" | "seed", label: string, hint: string) => (
    <Field label={label} hint={hint} wrong={wrong[name]}>
      {(tied) => (
        <input
          {...tied}
          className="input"
          inputMode="numeric"
          autoComplete="off"
          value={typed[name]}
          onChange={(event) => onChange({ ...typed, [name]: event.target.value })}
        />
      )}
    </Field>
  );
  return (
    <div className="problem-set">
      <Field label="Set" hint={about} wrong={wrong["set"]}>
        {(tied) => (
          <select
            {...tied}
            className="input"
            value={typed.set}
            onChange={(event) => onChange(ofSet(typed, event.target.value as SetName))}
          >
            {NAMES.map((name) => (
              <option key={name} value={name}>
                {SETS[name].title}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div className="levels">
        {level("first", levels === "people" ? "Fewest people" : "First level")}
        {level("last", levels === "people" ? "Most people" : "Last level")}
      </div>
      {whole(
        "count",
        levels === "people" ? "Problems for each number of people" : "Problems of each level",
        `1 to ${number(MOST_OF_LEVEL)}, together at most ${number(MOST_TOGETHER)}.`,
      )}
      {whole("seed", "Seed", "Another seed, other problems.")}
      <div className="field">
        <span className="label">Split</span>
        <Segmented
          label="Split of the problems"
          value={typed.split}
          options={SPLITS}
          onChange={(split) => onChange({ ...typed, split })}
        />
        <span className="hint">Train on one, report on the other.</span>
      </div>
    </div>
  );
}
