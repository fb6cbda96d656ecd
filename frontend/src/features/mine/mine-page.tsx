/** What somebody has judged in a project: all of it, with its texts, to be looked up and revised. */
import "./mine.css";

import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useDeferredValue, useId, useState } from "react";
import { Link, useLocation } from "react-router";

import { ownJudgmentPages } from "@/api/judgments";
import { Icon } from "@/components/icons";
import { More } from "@/components/more";
import { EmptyCard, Loaded } from "@/components/states";
import { useAddress } from "@/lib/address/use-address";
import { useProjectId } from "@/lib/address/use-project";
import { PageTitle } from "@/components/page-title";
import { useKeys } from "@/lib/shortcuts/use-keys";

import { OwnJudgmentCard, RAW_KEY } from "./own-judgment-card";

/** Others keep more in their clipboard than anybody searches for. */
const LONGEST_SEARCH = 200;

export function MinePage() {
  const projectId = useProjectId();
  const { search, set } = useAddress();
  const words = search.get("q")?.slice(0, LONGEST_SEARCH) ?? "";
  const asked = useDeferredValue(words.trim());
  const query = useInfiniteQuery({
    ...ownJudgmentPages(projectId, asked),
    placeholderData: keepPreviousData,
  });
  const id = useId();
  const { isRaw, toggleRaw } = useRaw();
  return (
    <div className="page mine">
      <div className="page-head">
        <PageTitle>Mine: your judgments</PageTitle>
        <h1>Mine: your judgments</h1>
        <span className="grow" />
        <label className="sr-only" htmlFor={id}>
          Search your judgments
        </label>
        <input
          id={id}
          type="search"
          className="input mine-search"
          placeholder="Search prompts, responses and notes"
          maxLength={LONGEST_SEARCH}
          value={words}
          onChange={({ target }) => set({ q: target.value || null })}
        />
      </div>
      <Word />
      <Loaded query={query} lines={8} isNone={({ pages }) => pages.every(isEmptyPage)}>
        {({ pages }) => {
          const judgments = pages.flatMap((page) => page.items);
          if (judgments.length === 0) return <Nothing words={asked} projectId={projectId} />;
          return (
            <ol className="mine-list" aria-busy={query.isPlaceholderData}>
              {judgments.map((judgment) => (
                <li key={judgment.id}>
                  <OwnJudgmentCard
                    projectId={projectId}
                    judgment={judgment}
                    isRaw={isRaw}
                    onRaw={toggleRaw}
                  />
                </li>
              ))}
            </ol>
          );
        }}
      </Loaded>
      <More query={query} />
    </div>
  );
}

/** The texts of all judgments as they were written, by a button or its key. */
function useRaw() {
  const [isRaw, setRaw] = useState(false);
  const toggleRaw = () => setRaw((now) => !now);
  useKeys(({ key, repeat, ctrlKey, metaKey, altKey }) => {
    if (key.toLowerCase() !== RAW_KEY || ctrlKey || metaKey || altKey) return false;
    if (!repeat) toggleRaw();
    return true;
  });
  return { isRaw, toggleRaw };
}

const isTold = (state: unknown): state is { readonly word: string } =>
  typeof state === "object" && state !== null && "word" in state;

/** What the page before has to say: that a revision is stored. */
function Word() {
  const told: unknown = useLocation().state;
  return (
    <div className="mine-word" role="status">
      {isTold(told) && (
        <p className="note">
          <Icon name="check" />
          <span>{told.word}</span>
        </p>
      )}
    </div>
  );
}

const isEmptyPage = ({ items }: { readonly items: readonly unknown[] }) => items.length === 0;

function Nothing({ words, projectId }: { words: string; projectId: string }) {
  if (words !== "")
    return (
      <EmptyCard icon="search" title="Nothing found">
        None of your judgments has “{words}” in its prompt, in a response or in its note.
      </EmptyCard>
    );
  return (
    <EmptyCard
      icon="note"
      title="You have not judged anything yet"
      actions={
        <Link className="btn primary" to={`/projects/${projectId}/rank`}>
          Start ranking
        </Link>
      }
    >
      Each judgment that you send is listed here with its texts, and you can revise it.
    </EmptyCard>
  );
}
