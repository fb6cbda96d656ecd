/** A response with its tokens shaded by a number per token, exact values on hover, click and by keys. */
import "@/components/response/response-text.css";

import { useMemo, useState, type MouseEvent } from "react";

import type { Sample } from "@/api/types";
import { spaced } from "@/components/response/spaced";
import { splitThinking } from "@/components/response/thinking";
import { PlainText } from "@/components/text/plain-text";
import { Sentence } from "@/components/text/sentence";
import { number, plural } from "@/lib/format";

import {
  background,
  lacksBecause,
  reasoningTokens,
  underline,
  valuesOf,
  type Shading,
} from "./shades";

/** `unshaded`: why tokens have no numbers, where they have none. */
export function Tokens(props: { sample: Sample; shading: Shading; unshaded: string }) {
  const { sample, shading, unshaded } = props;
  const { tokens } = sample;
  if (tokens === null)
    return (
      <>
        <Unshaded text={sample.response} />
        <Why text={unshaded} />
      </>
    );
  if (valuesOf(sample, shading.shade) === null)
    return (
      <>
        <Unshaded text={sample.response} />
        <Why text={lacksBecause(shading.shade)} />
      </>
    );
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

function Why({ text }: { text: string }) {
  return (
    text !== "" && (
      <p className="small faint">
        <Sentence text={text} />
      </p>
    )
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
  const { sample, shading, from, to } = props;
  const values = valuesOf(sample, shading.shade);
  const texts = useMemo(() => spaced(sample.tokens ?? [], sample.response), [sample]);
  const [asked, setAsked] = useState<number | null>(null);
  const ask = ({ target }: MouseEvent) => {
    const token = target instanceof Element ? target.closest<HTMLElement>("[data-token]") : null;
    if (token !== null) setAsked(Number(token.dataset["token"]));
  };
  return (
    <>
      <p className="plain tokens" dir="auto" onClick={ask}>
        {texts.slice(from, to).map((token, i) => {
          const place = from + i;
          return (
            <span
              key={place}
              data-token={place}
              className={place === asked ? "asked" : undefined}
              data-underline={underline(values?.[place] ?? null, shading)}
              style={{ background: background(values?.[place] ?? null, shading) }}
              title={titleOf(sample, place)}
            >
              <PlainText text={token} />
            </span>
          );
        })}
      </p>
      {to > from && (
        <TokenChoice sample={sample} from={from} to={to} asked={asked} onAsk={setAsked} />
      )}
    </>
  );
}

/** The numbers of a token for who has no mouse: seen once it has the focus or a token is clicked. */
function TokenChoice(props: {
  sample: Sample;
  from: number;
  to: number;
  asked: number | null;
  onAsk: (place: number) => void;
}) {
  const { sample, from, to, asked, onAsk } = props;
  const place = asked ?? from;
  const words = `“${(sample.tokens?.[place] ?? "").trim()}”, ${titleOf(sample, place)}`;
  return (
    <div className={asked === null ? "token-choice sr-only" : "token-choice"}>
      <input
        type="range"
        aria-label="Token"
        aria-valuetext={words}
        min={from}
        max={to - 1}
        value={place}
        onFocus={() => onAsk(place)}
        onChange={({ target }) => onAsk(Number(target.value))}
      />
      <span className="small">{words}</span>
    </div>
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
