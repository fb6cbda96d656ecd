/** One request to the API, or one clear error; every file of this folder uses it. */
import { sentence } from "@/lib/format";
import { isUnanswered, noteAnswer } from "@/lib/reachable";

const PREFIX = "/api/v1";

/** Whose page this is. In a shared browser the cookie may meanwhile be another person's. */
let pageOf: string | null = null;

/** From now on this page's requests are refused (401) unless this user is signed in. */
export function actAs(userId: string | null): void {
  pageOf = userId;
}

export type QueryValue = string | number | boolean | null | undefined | readonly string[];

export interface RequestOptions {
  query?: Record<string, QueryValue>;
  body?: unknown;
  /** A file or text that is sent as it is. */
  raw?: { content: Blob | string; type: string };
  idempotencyKey?: string;
  signal?: AbortSignal;
  method?: string;
  /** For whoever is signed in, also if that is not the user whose page this is. */
  asAnybody?: boolean;
  /** Sent to its end also if the page is closed meanwhile; of at most 64 KiB. */
  outlivesPage?: boolean;
  /** Answered at once with a job, see docs/api.md; without, when the job has ended. */
  comesBack?: boolean;
}

interface ProblemDetails {
  title?: string;
  detail?: string;
  advice?: string | null;
  request_id?: string | null;
  deactivated_user_id?: string;
  errors?: readonly { path?: string; message?: string }[];
}

/** What the API said was wrong; status 0 means that no answer came. */
export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly advice: string | null;
  readonly requestId: string | null;
  readonly retryAfterS: number | null;
  /** Of a sign-in with the right password: whose account is deactivated. */
  readonly deactivatedUserId: string | null;
  /** What is wrong with single fields of what was sent, by their path. */
  readonly fields: Readonly<Record<string, string>>;

  constructor(status: number, details: ProblemDetails, retryAfterS: number | null = null) {
    super(details.detail ?? details.title ?? "The request failed.");
    this.status = status;
    this.title = details.title ?? "The request failed";
    this.advice = details.advice ?? null;
    this.requestId = details.request_id ?? null;
    this.retryAfterS = retryAfterS;
    this.deactivatedUserId = details.deactivated_user_id ?? null;
    this.fields = Object.fromEntries(
      (details.errors ?? []).map(({ path = "", message = "" }) => [path, sentence(message)]),
    );
  }

  /** Sending the same again later may work. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }

  /** Something else has changed what this was about. */
  get isConflict(): boolean {
    return this.status === 409;
  }

  /** Podium did not answer at all; the top bar says so until it does. */
  get isUnanswered(): boolean {
    return isUnanswered(this.status || null);
  }
}

/** Whether something else has changed what a request was about. */
export const isConflict = (error: unknown): boolean => error instanceof Problem && error.isConflict;

/** Whether a query is asked again after so many failures: twice, where that may help. */
export const mayAskAgain = (failures: number, error: unknown): boolean =>
  error instanceof Problem && error.isPassing && failures < 2;

/** The same for what nobody would ask for later: also for as long as Podium does not answer. */
export const untilAnswered =
  (isWanted: () => boolean) =>
  (failures: number, error: unknown): boolean =>
    isWanted() &&
    (mayAskAgain(failures, error) || (error instanceof Problem && error.isUnanswered));

function address(path: string, query: Record<string, QueryValue>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "") continue;
    if (typeof value === "object") for (const one of value) search.append(name, one);
    else search.append(name, String(value));
  }
  const text = search.toString();
  return `${PREFIX}${path}${text ? `?${text}` : ""}`;
}

const NO_ANSWER_ADVICE =
  "Try again. If it happens again, tell an administrator: the log of the proxy or of the service (api.log) says why.";

async function problemOf(response: globalThis.Response): Promise<Problem> {
  let details: ProblemDetails = {
    title: "The service returned an error",
    detail: `HTTP status ${response.status}, without further details.`,
  };
  try {
    details = { ...details, ...((await response.json()) as ProblemDetails) };
  } catch {
    // A proxy's own page, not an answer of the API: only the status is known.
    if (response.status >= 500) details = { ...details, advice: NO_ANSWER_ADVICE };
  }
  const after = Number(response.headers.get("retry-after"));
  return new Problem(response.status, details, Number.isFinite(after) && after > 0 ? after : null);
}

function prepared(options: RequestOptions): RequestInit {
  const headers: Record<string, string> = { Accept: "application/json" };
  const init: RequestInit = { headers, credentials: "same-origin" };
  if (options.raw !== undefined) {
    headers["Content-Type"] = options.raw.type;
    init.body = options.raw.content;
  } else if (options.body !== undefined) {
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(options.body);
  }
  if (options.idempotencyKey !== undefined) headers["Idempotency-Key"] = options.idempotencyKey;
  if (pageOf !== null && options.asAnybody !== true) headers["X-Podium-User"] = pageOf;
  if (options.signal !== undefined) init.signal = options.signal;
  if (options.outlivesPage === true) init.keepalive = true;
  if (options.comesBack === true) headers["Prefer"] = "respond-async";
  init.method = options.method ?? (init.body === undefined ? "GET" : "POST");
  return init;
}

function noConnection(detail: string): Problem {
  noteAnswer(null);
  return new Problem(0, {
    title: "No connection",
    detail,
    advice: "Check that Podium is running and that you are online.",
  });
}

async function sent(path: string, options: RequestOptions): Promise<globalThis.Response> {
  let response: globalThis.Response;
  try {
    response = await fetch(address(path, options.query ?? {}), prepared(options));
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw noConnection("The service could not be reached.");
  }
  noteAnswer(response.status);
  if (!response.ok) throw await problemOf(response);
  return response;
}

/** Sends and reads JSON; an empty answer (204) is null. Throws Problem, also for a lost network. */
export async function request<Result>(path: string, options: RequestOptions = {}): Promise<Result> {
  const response = await sent(path, options);
  if (response.status === 204) return null as Result;
  return whole(response.json() as Promise<Result>);
}

/** The body of an answer. Throws Problem if the connection is lost before its end. */
async function whole<Body>(body: Promise<Body>): Promise<Body> {
  try {
    return await body;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw noConnection("The connection was lost in the middle of an answer.");
  }
}

/** The same for an answer that is text. */
export async function requestText(path: string, options: RequestOptions = {}): Promise<string> {
  const response = await sent(path, options);
  return whole(response.text());
}

export function post<Result>(path: string, body: unknown = {}, options: RequestOptions = {}) {
  return request<Result>(path, { ...options, body, method: "POST" });
}

export { address };
