/** A response with its tokens shaded by a number per token, exact values on hover. */
import type { Sample } from "@/api/types";
import { splitThinking } from "@/components/response/thinking";
import { PlainText } from "@/components/text/plain-text";
import { number, plural } from "@/lib/format";

import { background, reasoningTokens, valuesOf, type Shading } from "./shades";

export function Tokens({ sample, shading }: { sample: Sample; shading: Shading }) {
  const { tokens } = sample;
  if (tokens === null || valuesOf(sample, shading.shade) === null)
    return <Unshaded text={sample.response} />;
  const reasoning = reasoningTokens(tokens);
  return (
    <div>
      {reasoning > 0 && (
        <details className="think">
          <summary>Reasoning, {plural(reasoning, "token")}</summary>
          <Shaded sample={sample} shading={shading} from={0} to={reasoning} />
        </details>
      )}
      <Shaded sample={sample} shading={shading} from={reasoning} to={tokens.length} />
    </div>
  );
}

function Unshaded({ text }: { text: string }) {
  const { thinking, answer } = splitThinking(text);
  return (
    <div>
      {thinking !== null && (
        <details className="think">
          <summary>Reasoning</summary>
          <p className="plain" dir="auto">
            <PlainText text={thinking} />
          </p>
        </details>
      )}
      <p className="plain" dir="auto">
        {answer === "" ? (
          <span className="faint">(empty response)</span>
        ) : (
          <PlainText text={answer} />
        )}
      </p>
    </div>
  );
}

function Shaded(props: { sample: Sample; shading: Shading; from: number; to: number }) {
  const { sample, shading } = props;
  const values = valuesOf(sample, shading.shade);
  return (
    <p className="plain tokens" dir="auto">
      {sample.tokens?.slice(props.from, props.to).map((token, i) => {
        const place = props.from + i;
        return (
          <span
            key={place}
            style={{
              background: background(values?.[place] ?? null, shading.scale, shading.shade),
            }}
            title={titleOf(sample, place)}
          >
            <PlainText text={token} />
          </span>
        );
      })}
    </p>
  );
}

const NAMED = [
  ["logp", "log-prob"],
  ["sampler_logp", "when sampled"],
  ["change", "change"],
  ["kl", "KL"],
  ["entropy", "entropy"],
  ["advantage", "advantage"],
  ["value", "value"],
] as const;

function titleOf(sample: Sample, place: number): string {
  const parts = NAMED.flatMap(([name, title]) => {
    const value = sample[name]?.[place];
    return value === undefined ? [] : [`${title} ${number(value)}`];
  });
  const [logp, kl] = [sample.logp?.[place], sample.kl?.[place]];
  if (logp != null && kl != null) parts.splice(1, 0, `reference ${number(logp - kl)}`);
  return `token ${place + 1}: ${parts.join(", ")}`;
}
