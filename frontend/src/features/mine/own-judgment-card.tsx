/** One's own judgment: what was asked, what was answered, what one said of it, then and now. */
import { useState } from "react";
import { Link } from "react-router";

import type { OwnJudgment } from "@/api/types";
import { RawButton } from "@/components/response/raw-button";
import { ResponseText } from "@/components/response/response-text";
import { Ago } from "@/components/text/clock";
import { Conversation, firstWords } from "@/components/text/conversation";
import { PlainText } from "@/components/text/plain-text";
import { ordinal, plural } from "@/lib/format";
import { inLetters, inWords, letterOf, type Lettered } from "@/lib/letters";
import { useHasSingleLetters } from "@/lib/shortcuts/single-letter";

const REVIEW: Readonly<Record<NonNullable<OwnJudgment["review_reason"]>, string>> = {
  late: "It came when others had taken the comparison, so it does not count.",
  differs: "You had judged this comparison differently before. That judgment counts, not this one.",
};

/** Shows the texts as they were written. */
export const RAW_KEY = "r";

type Said = OwnJudgment["earlier"][number];
/** A ranking of the whole, or under one criterion. */
type OneRanking = Pick<Said, "tiers" | "unranked" | "verdict" | "reasons"> & { criterion?: string };

export function OwnJudgmentCard(props: {
  projectId: string;
  judgment: OwnJudgment;
  isRaw: boolean;
  onRaw: () => void;
}) {
  const { projectId, judgment, isRaw } = props;
  const hasKey = useHasSingleLetters();
  const { comparison, review_reason: review } = judgment;
  const [isOpen, setOpen] = useState(false);
  const letters = lettersOf(judgment);
  const said = inShort(judgment, letters);
  return (
    <article className="card padded mine-judgment" aria-label={`Judgment: ${said}`}>
      <header className="row">
        <b className="mono">{said}</b>
        {judgment.revision > 1 && review === null && (
          <span className="pill">revision {judgment.revision}</span>
        )}
        {review !== null && <span className="pill warn">kept for review</span>}
        <span className="grow" />
        <Link
          className="btn"
          to={`/projects/${projectId}/rank/${judgment.assignment_id}`}
          aria-label={`Revise: ${said}`}
        >
          Revise
        </Link>
      </header>
      <p className="small muted">
        <Ago at={judgment.created_at} />
        {judgment.rankings.length === 0
          ? `: ${inWords(lettered(judgment, letters), unrankedOf(judgment, letters))}`
          : "."}
        {judgment.flags.length > 0 && ` Flagged: ${named(judgment.flags, letters)}.`}
        {review !== null && ` ${REVIEW[review]}`}
      </p>
      {judgment.comment !== "" && <Note text={judgment.comment} />}
      {isOpen ? (
        <Texts judgment={judgment} letters={letters} isRaw={isRaw} />
      ) : (
        <p className="mine-preview" dir="auto">
          <PlainText text={firstWords(comparison.prompt.messages)} />
        </p>
      )}
      <footer className="row">
        <button
          type="button"
          className="btn ghost"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen
            ? "Hide the texts"
            : `Show the prompt and ${plural(comparison.responses.length, "response")}`}
        </button>
        {isOpen && (
          <RawButton isRaw={isRaw} onToggle={props.onRaw}>
            {hasKey && <kbd>{RAW_KEY.toUpperCase()}</kbd>}
          </RawButton>
        )}
      </footer>
      {judgment.earlier.length > 0 && <Earlier judgment={judgment} letters={letters} />}
    </article>
  );
}

/** The letters under which the responses were shown, by id. */
function lettersOf({ comparison }: OwnJudgment): ReadonlyMap<string, string> {
  return new Map(comparison.responses.map(({ id }, place) => [id, letterOf(place)]));
}

const answersOf = (said: Said): readonly OneRanking[] =>
  said.rankings.length === 0 ? [said] : said.rankings;

const prefixOf = ({ criterion }: OneRanking) => (criterion === undefined ? "" : `${criterion}: `);

/** "B > A = C"; with criteria, "helpful: B > A; harmless: A = B". */
const inShort = (said: Said, letters: ReadonlyMap<string, string>): string =>
  answersOf(said)
    .map((one) => `${prefixOf(one)}${inLetters(lettered(one, letters))}`)
    .join("; ");

const unrankedOf = ({ unranked }: OneRanking, letters: ReadonlyMap<string, string>) =>
  unranked.map((one) => letters.get(one) ?? "?");

const lettered = (said: OneRanking, letters: ReadonlyMap<string, string>): Lettered => ({
  ...said,
  tiers: said.tiers.map((tier) => tier.map((id) => letters.get(id) ?? "?")),
});

const named = (ids: readonly string[], letters: ReadonlyMap<string, string>) =>
  ids.map((id) => letters.get(id) ?? "?").join(", ");

function Note({ text }: { text: string }) {
  return (
    <blockquote className="mine-note" dir="auto">
      <PlainText text={text} />
    </blockquote>
  );
}

function Texts(props: {
  judgment: OwnJudgment;
  letters: ReadonlyMap<string, string>;
  isRaw: boolean;
}) {
  const { isRaw } = props;
  const { comparison } = props.judgment;
  const rankOf = (id: string) =>
    answersOf(props.judgment)
      .filter(({ verdict }) => verdict === "ranked")
      .map((one) => {
        const tier = one.tiers.findIndex((ids) => ids.includes(id));
        return `${prefixOf(one)}${tier < 0 ? "unranked" : ordinal(tier + 1)}`;
      })
      .join(", ");
  return (
    <div className="mine-texts">
      <section aria-label="Prompt">
        <b className="small muted">Prompt</b>
        <Conversation messages={comparison.prompt.messages} isRaw={isRaw} />
      </section>
      {comparison.responses.map(({ id, content }) => (
        <section key={id} aria-label={`Response ${props.letters.get(id) ?? ""}`}>
          <span className="row">
            <b className="mine-letter">{props.letters.get(id)}</b>
            <span className="small muted">{rankOf(id)}</span>
          </span>
          <ResponseText content={content} isRaw={isRaw} />
        </section>
      ))}
    </div>
  );
}

/** Podium answers with the last of many revisions. */
function Earlier(props: { judgment: OwnJudgment; letters: ReadonlyMap<string, string> }) {
  const { earlier, revision } = props.judgment;
  const isAll = revision - 1 <= earlier.length;
  return (
    <details className="mine-earlier">
      <summary className="small">
        {isAll
          ? plural(earlier.length, "earlier revision")
          : `${plural(revision - 1, "earlier revision")}, the last ${earlier.length} of them shown`}
      </summary>
      <ol reversed>
        {earlier.map((one) => (
          <li key={one.revision} value={one.revision}>
            <b className="mono">{inShort(one, props.letters)}</b>{" "}
            <span className="small muted">
              <Ago at={one.created_at} />
            </span>
            {one.comment !== "" && <Note text={one.comment} />}
          </li>
        ))}
      </ol>
    </details>
  );
}
