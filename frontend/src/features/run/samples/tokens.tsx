/** A response with its tokens shaded by a number per token, exact values on hover. */
import type { Sample } from "@/api/types";
import { PlainText } from "@/components/text/plain-text";
import { number } from "@/lib/format";

export type Shade = "advantage" | "kl" | "logp" | "none";

export const SHADES: readonly (readonly [Shade, string])[] = [
  ["advantage", "Advantage"],
  ["kl", "KL"],
  ["logp", "Log-prob"],
  ["none", "Plain"],
];

const STRONGEST = 44;

function background(value: number | null, largest: number): string | undefined {
  if (value === null || largest === 0) return undefined;
  const strength = Math.min(1, Math.abs(value) / largest) * STRONGEST;
  const colour = value >= 0 ? "var(--s3)" : "var(--s2)";
  return `color-mix(in srgb, ${colour} ${strength.toFixed(1)}%, transparent)`;
}

/** High KL and low log-prob are what one looks for, so they get the warm colour. */
function signedFor(shade: Shade, value: number | null): number | null {
  if (value === null) return null;
  return shade === "kl" ? -value : value;
}

export function Tokens({ sample, shade }: { sample: Sample; shade: Shade }) {
  const values = shade === "none" ? null : sample[shade];
  const { tokens } = sample;
  if (tokens === null || values === null) {
    return (
      <p className="plain" dir="auto">
        <PlainText text={sample.response} />
      </p>
    );
  }
  const sizes = values.filter((value): value is number => value !== null).map(Math.abs);
  const largest = Math.max(0, ...sizes);
  return (
    <p className="plain tokens">
      {tokens.map((token, i) => {
        const value = values[i] ?? null;
        return (
          <span
            key={i}
            style={{ background: background(signedFor(shade, value), largest) }}
            title={titleOf(sample, i)}
          >
            <PlainText text={token} />
          </span>
        );
      })}
    </p>
  );
}

function titleOf(sample: Sample, i: number): string {
  const parts = (["advantage", "kl", "logp"] as const).flatMap((name) => {
    const value = sample[name]?.[i];
    return value === undefined ? [] : [`${name} ${number(value)}`];
  });
  return `token ${i + 1}: ${parts.join(", ")}`;
}
