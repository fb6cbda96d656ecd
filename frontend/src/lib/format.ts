/** How numbers and times read on screen. Pure; every page uses it. */

/** Three digits, a whole number whole. The verdict's sentences (`shown`) write the same. */
export function number(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (Number.isSafeInteger(value)) return value.toLocaleString("en-US").replace("-", "−");
  if (size >= 1e6 || size < 1e-4)
    return value.toExponential(2).replace("e+", "e").replace(/^-/, "−");
  return inDigits(value, size, digits).replace("-", "−");
}

function inDigits(value: number, size: number, digits: number): string {
  if (size < 100) return value.toPrecision(digitsBelowOne(size, digits));
  const decimals = size < 1000 ? 1 : 0;
  return value.toLocaleString("en-US", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
}

/** So many digits, or as many more, up to six, as a number below 1 needs to read as such: 0.9996. */
function digitsBelowOne(size: number, digits: number): number {
  const readsAsOne = size < 1 && digits < 6 && Number(size.toPrecision(digits)) === 1;
  return readsAsOne ? digitsBelowOne(size, digits + 1) : digits;
}

export function signed(value: number, digits = 3): string {
  return value > 0 ? `+${number(value, digits)}` : number(value, digits);
}

export interface Span {
  readonly low: number;
  readonly high: number;
}

/** Of an interval, in units of its last decimal. */
const LEAST_WIDTH = 3;
const MOST_DIGITS = 6;

/**
 * The ends of an interval with the decimals that the greater one needs: "[0.000, 0.135]", never
 * "[8.98e-9, 0.135]", or as many more as show how wide it is: "[23.96, 24.01]". Values that are all
 * alike do not say how sure their mean is.
 */
export function between({ low, high }: Span): string {
  return low === high ? "no spread" : `[${endsOf(low, high).join(", ")}]`;
}

/** The ends of a range as those of an interval, whole numbers whole: "0.10" and "2.79", "0" and "1". */
export const rangeEnds = ({ low, high }: Span): readonly [string, string] =>
  Number.isSafeInteger(low) && Number.isSafeInteger(high)
    ? [number(low), number(high)]
    : endsOf(low, high);

/** A range that somebody has set, or computed, in words: "0 to 0.05", "0.10 to 2.79". */
export function rangeText(span: Span): string {
  let [low, high] = rangeEnds(span);
  while (/\.\d*0$/.test(low) && /\.\d*0$/.test(high)) {
    [low, high] = [low, high].map((end) => end.slice(0, -1).replace(/\.$/, "")) as [string, string];
  }
  return `${span.low === 0 ? "0" : low} to ${high}`;
}

function endsOf(low: number, high: number): readonly [string, string] {
  const greatest = Math.max(Math.abs(low), Math.abs(high));
  if (greatest < 1e-4 || greatest >= 1e6) return [number(low), number(high)];
  const size = Math.floor(Math.log10(greatest));
  const ofWidth = high > low ? Math.ceil(Math.log10(LEAST_WIDTH / (high - low))) : 0;
  const decimals = Math.max(0, 2 - size, Math.min(ofWidth, MOST_DIGITS - 1 - size));
  return [fixed(low, decimals), fixed(high, decimals)];
}

/** So many decimals; an end that is not 0 never reads as a whole 0, which would hide its sign. */
function fixed(value: number, decimals: number): string {
  // Rounded as the verdict's sentences are; `toLocaleString` rounds the decimal text.
  const [whole = "", part] = Math.abs(value).toFixed(decimals).split(".");
  if (whole === "0" && part === undefined && value !== 0) return number(value);
  const text = [Number(whole).toLocaleString("en-US"), ...(part === undefined ? [] : [part])];
  return `${value < 0 && /[1-9]/.test(text.join("")) ? "−" : ""}${text.join(".")}`;
}

/** The interval of a value, or that it has none. */
export const intervalText = (span: Span | null | undefined): string =>
  span == null ? "no interval" : between(span);

/** Three digits and a unit, each a thousand of the one before; 999.7 of one reads as 1.00. */
function inUnits(value: number, units: readonly [string, ...string[]]): string {
  const [unit, ...greater] = units;
  const [next, ...rest] = greater;
  if (next !== undefined && Number(value.toPrecision(3)) >= 1000)
    return inUnits(value / 1000, [next, ...rest]);
  return `${value < 1000 ? value.toPrecision(3) : number(value)} ${unit}`;
}

export const bytes = (value: number): string =>
  value < 1000 ? `${value} B` : inUnits(value / 1000, ["kB", "MB", "GB", "TB"]);

/** How many parameters a model has: below a million all digits. */
export function parameters(count: number | null | undefined): string {
  if (count === null || count === undefined) return "–";
  return count < 1e6 ? count.toLocaleString("en-US") : inUnits(count / 1e6, ["M", "B", "T"]);
}

/** 75 -> "1 min 15 s"; two units at most. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  const whole = Math.max(0, Math.round(seconds));
  const parts: [number, string][] = [
    [Math.floor(whole / 86400), "d"],
    [Math.floor((whole % 86400) / 3600), "h"],
    [Math.floor((whole % 3600) / 60), "min"],
    [whole % 60, "s"],
  ];
  const first = parts.findIndex(([n]) => n > 0);
  if (first < 0) return "0 s";
  return parts
    .slice(first, first + 2)
    .filter(([n]) => n > 0)
    .map(([n, unit]) => `${n} ${unit}`)
    .join(" ");
}

/** When the day of whoever looks began; `now` in ms. */
export const dayStart = (now: number): string =>
  new Date(new Date(now).setHours(0, 0, 0, 0)).toISOString();

export function ago(iso: string, now: number): string {
  const seconds = (now - Date.parse(iso)) / 1000;
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}

export function shortId(id: string): string {
  return id.length > 14 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id;
}

export function shortHash(sha256: string): string {
  return `${sha256.slice(0, 4)}…${sha256.slice(-3)}`;
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`;
}

/** A name of a metric, key or file, such as kl/mean, max_tokens, optim.lr: its letters stay. */
const IDENTIFIER = /^[\w-]+[_/.][\w]/;

/** A message of the API as a sentence: with a capital letter and a full stop. */
export function sentence(text: string): string {
  const first = IDENTIFIER.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

/** The line that says most: of a traceback its last, of anything else its first. */
export function summaryLine(message: string): string {
  const lines = message.trim().split("\n");
  return (lines[0]?.startsWith("Traceback") === true ? lines.at(-1) : lines[0]) ?? "";
}

/** reward_model -> "reward model". */
export function words(name: string): string {
  return name.replaceAll("_", " ");
}

/** A share from 0 to 1: "80 %"; 0 % and 100 % are exact, a share near them is "under 0.01 %". */
export function percent(share: number, decimals = 2): string {
  const shown = Number((100 * share).toFixed(decimals));
  const least = 10 ** -decimals;
  if (shown === 0 && share > 0) return `under ${least} %`;
  return shown === 100 && share < 1 ? `over ${100 - least} %` : `${shown} %`;
}

export function ordinal(n: number): string {
  const ending = ["th", "st", "nd", "rd"][n % 100 > 10 && n % 100 < 14 ? 0 : n % 10] ?? "th";
  return `${n}${ending}`;
}

/** A name in the middle of a sentence: "Held-out reward" is "held-out reward" there. */
export const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);
