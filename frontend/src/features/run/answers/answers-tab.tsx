/** What a run that samples was answered: every response, with its prompt, its scores and why. */
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";

import { answerPages } from "@/api/runs";
import type { AnswerLine, Listing, Run } from "@/api/types";
import { Choice } from "@/components/form/choice";
import { More } from "@/components/more";
import { Scores } from "@/components/response/scores";
import { Empty, Loaded } from "@/components/states";
import { firstWords } from "@/components/text/conversation";
import { FirstLines } from "@/components/text/long/first-lines";
import { useAddress } from "@/lib/address/use-address";
import { plural } from "@/lib/format";

import { Known, Passed } from "../samples/known";
import { mayMoveOn } from "../run-status";
import { ALL, askedIn, hasBaseline, MODELS, PASSED, setsOf } from "./asked";

export function AnswersTab({ run }: { run: Run }) {
  const { search } = useAddress();
  const asked = askedIn(search);
  const query = useInfiniteQuery({
    ...answerPages(run.id, asked),
    enabled: run.state === "succeeded",
    // What was chosen by stays where it is meanwhile, with the focus.
    placeholderData: keepPreviousData,
  });
  if (run.state !== "succeeded") return <NoAnswers run={run} />;
  return (
    <section className="card samples answers" aria-busy={query.isPlaceholderData}>
      <Filter run={run} isJudged={asked.passed !== null || isJudged(query.data?.pages ?? [])} />
      <Loaded query={query} lines={8}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          const isEnd = pages.at(-1)?.next_cursor === null;
          if (items.length === 0)
            return (
              <Empty
                icon="note"
                title={isEnd ? "No answer is like this" : "None in this part of the file"}
              />
            );
          return (
            <ol>
              {items.map((answer, place) => (
                <Answer
                  key={`${askedOf(answer)} ${answer.index}`}
                  answer={answer}
                  run={run}
                  isNext={place > 0 && askedOf(items[place - 1] ?? answer) === askedOf(answer)}
                />
              ))}
            </ol>
          );
        }}
      </Loaded>
      <More query={query} />
    </section>
  );
}

/** Whether a reward term says of any of these whether it is correct. */
const isJudged = (pages: readonly Listing<AnswerLine>[]): boolean =>
  pages.some(({ items }) => items.some(({ passed }) => passed !== null));

/** Who was asked what. */
const askedOf = ({ set_name: set, model, prompt_id: prompt }: AnswerLine) =>
  `${set ?? ""} ${model} ${prompt}`;

function Filter({ run, isJudged }: { run: Run; isJudged: boolean }) {
  const { search, set } = useAddress();
  const sets = setsOf(run);
  const change = (name: string) => (value: string) => set({ [name]: value === ALL ? null : value });
  if (sets.length === 0 && !hasBaseline(run) && !isJudged) return null;
  return (
    <header>
      {sets.length > 0 && (
        <Choice
          label="Set"
          value={search.get("of") ?? ALL}
          options={sets}
          onChange={change("of")}
        />
      )}
      {hasBaseline(run) && (
        <Choice
          label="Who answered"
          value={search.get("who") ?? ALL}
          options={MODELS}
          onChange={change("who")}
        />
      )}
      {isJudged && (
        <Choice
          label="Whether it passed"
          value={search.get("passed") ?? ALL}
          options={PASSED}
          onChange={change("passed")}
        />
      )}
    </header>
  );
}

/** `isNext`: the answer before it is to the same prompt, which is not said again. */
function Answer(props: { answer: AnswerLine; run: Run; isNext: boolean }) {
  const { answer, run, isNext } = props;
  const { reward, scores } = answer;
  return (
    <li className="sample">
      <div>
        {!isNext && <Asked answer={answer} />}
        <p className="small faint">
          {[answer.set_name, hasBaseline(run) ? answer.model : null, `response ${answer.index + 1}`]
            .filter(Boolean)
            .join(", ")}
        </p>
      </div>
      <div>
        <Passed sample={answer} />
        {answer.content === "" ? (
          <p className="faint">(empty response)</p>
        ) : (
          <div className="plain">
            <FirstLines text={answer.content} />
          </div>
        )}
        <p className="small faint">
          {plural(answer.n_tokens, "token")}
          {answer.finish_reason === "length" && ", cut by the token limit"}
        </p>
      </div>
      <Scores className="nums" scores={reward === null ? scores : { ...scores, reward }} />
    </li>
  );
}

function Asked({ answer }: { answer: AnswerLine }) {
  return (
    <>
      {answer.messages === null ? (
        <p className="faint">The project no longer has this prompt.</p>
      ) : (
        <div className="plain muted">
          <FirstLines text={firstWords(answer.messages)} />
        </div>
      )}
      <Known sample={answer} />
    </>
  );
}

function NoAnswers({ run }: { run: Run }) {
  const isComing = run.state === "crashed" ? run.is_retried : mayMoveOn(run.state);
  return (
    <section className="card">
      <Empty icon="note" title={isComing ? "No answers yet" : "No answers"}>
        {isComing
          ? "The responses appear here when the run succeeds."
          : "The run ended before it had all of its responses, so none were kept."}
      </Empty>
    </section>
  );
}
