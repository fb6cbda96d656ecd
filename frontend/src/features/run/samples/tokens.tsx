/** A response with its tokens shaded by a number per token, exact values on hover, click and by keys. */
import "@/components/response/response-text.css";

import { useMemo, useState, type MouseEvent } from "react";

import type { Sample } from "@/api/types";
import { spaced } from "@/components/response/spaced";
import { splitThinking } from "@/components/response/thinking";
import { Sentence } from "@/components/text/sentence";
import { number, plural } from "@/lib/format";

import { FoundParts, FoundText } from "./search/found-text";
import { partsOf, placesOf, type Part } from "./search/places";
import {
  background,
  lacksBecause,
  reasoningTokens,
  underline,
  valuesOf,
  type Shading,
} from "./shades";

interface TokensProps {
  readonly sample: Sample;
  readonly shading: Shading;
  /** Why tokens have no numbers, where they have none. */
  readonly unshaded: string;
  /** What somebody searches for; empty = nothing. */
  readonly q: string;
}

export function Tokens({ sample, shading, unshaded, q }: TokensProps) {
  const { tokens } = sample;
  if (tokens !== null && valuesOf(sample, shading.shade) !== null)
    return <ShadedResponse sample={sample} tokens={tokens} shading={shading} q={q} />;
  return (
    <>
      <Unshaded text={sample.response} q={q} />
      <Why text={tokens === null ? unshaded : lacksBecause(shading.shade)} />
    </>
  );
}

function ShadedResponse(props: {
  sample: Sample;
  tokens: readonly string[];
  shading: Shading;
  q: string;
}) {
  const { sample, tokens, shading, q } = props;
  const parts = useMemo(() => {
    const texts = spaced(tokens, sample.response);
    return partsOf(texts, placesOf(texts.join(""), q));
  }, [tokens, sample.response, q]);
  const reasoning = reasoningTokens(tokens);
  const isFoundInside = parts.slice(0, reasoning).some((some) => some.some((one) => one.isFound));
  const shaded = (from: number, to: number) => (
    <Shaded sample={sample} shading={shading} parts={parts} from={from} to={to} />
  );
  return (
    <div>
      {reasoning > 0 && (
        <details className="think" open={isFoundInside}>
          <summary>Reasoning, {plural(reasoning, "token")}</summary>
          {shaded(0, reasoning)}
        </details>
      )}
      {shaded(reasoning, tokens.length)}
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

function Unshaded({ text, q }: { text: string; q: string }) {
  const { thinking, answer } = splitThinking(text);
  return (
    <div>
      {thinking !== null && (
        <details className="think" open={placesOf(thinking, q).length > 0}>
          <summary>Reasoning</summary>
          <p className="plain" dir="auto">
            <FoundText text={thinking} q={q} />
          </p>
        </details>
      )}
      <p className="plain" dir="auto">
        {answer === "" ? (
          <span className="faint">(empty response)</span>
        ) : (
          <FoundText text={answer} q={q} />
        )}
      </p>
    </div>
  );
}

function Shaded(props: {
  sample: Sample;
  shading: Shading;
  /** The text of each token, cut at what is searched for. */
  parts: readonly (readonly Part[])[];
  from: number;
  to: number;
}) {
  const { sample, shading, parts, from, to } = props;
  const values = valuesOf(sample, shading.shade);
  const [asked, setAsked] = useState<number | null>(null);
  const ask = ({ target }: MouseEvent) => {
    const token = target instanceof Element ? target.closest<HTMLElement>("[data-token]") : null;
    if (token !== null) setAsked(Number(token.dataset["token"]));
  };
  return (
    <>
      <p className="plain tokens" dir="auto" onClick={ask}>
        {parts.slice(from, to).map((token, i) => {
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
              <FoundParts parts={token} />
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
