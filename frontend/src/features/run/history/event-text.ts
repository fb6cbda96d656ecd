/** What happened to a run, each event as a sentence, with what else is known of it; pure. */
import type { Json, JsonObject, RunEvent } from "@/api/types";
import { number, sentence, summaryLine } from "@/lib/format";

import { titleOf } from "../alert-title";

export interface EventText {
  readonly tone: "" | "good" | "warn" | "bad" | "active";
  readonly text: string;
  /** Shown when somebody unfolds it; null = there is nothing more. */
  readonly details: JsonObject | null;
}

type Said = Pick<EventText, "tone" | "text"> & { readonly details?: Json };

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const step = (data: JsonObject): string => number(Number(data["step"]));

export function eventText(event: Pick<RunEvent, "type" | "data">): EventText {
  const data = event.data as JsonObject;
  const { details = null, ...said } = saidOf(event.type, data);
  const isMore =
    details !== null &&
    typeof details === "object" &&
    !Array.isArray(details) &&
    Object.keys(details).length > 0;
  return { ...said, details: isMore ? details : null };
}

function saidOf(type: string, data: JsonObject): Said {
  switch (type) {
    case "start":
      return started(data);
    case "state":
      return moved(data);
    case "checkpoint":
      return { tone: "", text: checkpoint(data) };
    case "rewind":
      return {
        tone: "warn",
        text: `Went back to step ${rewound(data)}; what the trainer had logged for later steps was removed.`,
      };
    case "alert":
      return alerted(data);
    case "judged":
      return { tone: "", text: judged(data) };
    default:
      return { tone: "", text: sentence(type), details: data };
  }
}

function started({ attempt, environment, ...data }: JsonObject): Said {
  const which = `Attempt ${number(Number(attempt))}`;
  const isResumed = Number(data["step"]) > 0;
  return {
    tone: "active",
    text: isResumed ? `${which} resumes after step ${step(data)}.` : `${which} begins.`,
    details: environment ?? null,
  };
}

/** An evaluation from outside; an event without a judge takes back whoever was named before. */
function judged({ judge, names, steps, at }: JsonObject): string {
  const what = Array.isArray(names) ? names.map(text).join(", ") : "";
  const who = text(judge);
  const how = who === "" ? "attached again without a judge" : `judged by ${who}`;
  return `${what} at ${judgedSteps(steps, at)}: ${how}.`;
}

/** `at` has every step; older events have the first and the last alone. */
function judgedSteps(steps: Json | undefined, at: Json | undefined): string {
  const [first, last] = Array.isArray(steps) ? steps.map(Number) : [];
  if (first === undefined || last === undefined) return "a step";
  if (first === last) return `step ${number(first)}`;
  const count = Array.isArray(at) ? at.length : last - first + 1;
  if (count === 2) return `steps ${number(first)} and ${number(last)}`;
  if (count === last - first + 1) return `steps ${number(first)} to ${number(last)}`;
  return `${number(count)} steps from ${number(first)} to ${number(last)}`;
}

/** "Back at the beginning" is told as step -1. */
const rewound = (data: JsonObject): string => number(Math.max(0, Number(data["step"])));

const STOPPING: Readonly<Record<string, string>> = {
  cancel: "Asked to cancel: the run stops at its next safe point.",
  pause: "Asked to pause: the run stops at its next safe point.",
  drain: "Its worker shuts down: the run stops at its next safe point.",
  timeout: "Longer than resources.timeout_s: the run stops at its next safe point.",
};

const QUEUED: Readonly<Record<string, string>> = {
  retry: "Retried; waits for a worker.",
  drain: "Back in the queue, because its worker shut down.",
};

function moved({ state, reason, error, ...data }: JsonObject): Said {
  const why = text(reason);
  const attempt = number(Number(data["attempt"]));
  switch (text(state)) {
    case "queued":
      return { tone: "", text: QUEUED[why] ?? "Queued; waits for a worker." };
    case "running":
      return { tone: "active", text: `A worker takes the run: attempt ${attempt}.` };
    case "stopping":
      return { tone: "warn", text: STOPPING[why] ?? "The run stops at its next safe point." };
    case "paused":
      return { tone: "", text: "Paused." };
    case "cancelled":
      return { tone: "", text: "Cancelled." };
    case "succeeded":
      return { tone: "", text: "Finished; its results are stored." };
    case "failed":
    case "crashed":
      return { tone: "bad", text: ended(text(state), error), details: error ?? null };
    default:
      return {
        tone: "",
        text: sentence(text(state)),
        details: { ...data, reason: reason ?? null },
      };
  }
}

function ended(state: string, error: Json | undefined): string {
  const word = state === "failed" ? "Failed" : "Crashed";
  const message = error !== null && typeof error === "object" && !Array.isArray(error);
  const why = message ? summaryLine(text(error["message"])) : "";
  return why === "" ? `${word}.` : `${word}: ${sentence(why)}`;
}

function checkpoint(data: JsonObject): string {
  const which = `Checkpoint of step ${step(data)}`;
  if (data["is_pinned"] === true) return `${which} pinned: it is kept.`;
  if (data["is_pinned"] === false) return `${which} unpinned.`;
  return data["is_best"] === true ? `${which} written, the best so far.` : `${which} written.`;
}

function alerted(data: JsonObject): Said {
  const at = typeof data["step"] === "number" ? ` (step ${step(data)})` : "";
  const tone = data["level"] === "info" ? "" : data["level"] === "error" ? "bad" : "warn";
  const title = titleOf(text(data["rule"]));
  return { tone, text: `${title}${at}: ${sentence(text(data["message"]))}` };
}
