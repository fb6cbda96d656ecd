/** Prompts with what is known of them: ground truth, tags and metadata. */
import { useInfiniteQuery } from "@tanstack/react-query";

import { promptPages } from "@/api/projects";
import type { Prompt } from "@/api/types";
import { Empty } from "@/components/states";
import { Ago } from "@/components/text/clock";
import { firstWords } from "@/components/text/conversation";
import { FirstLines } from "@/components/text/long/first-lines";
import { PlainText } from "@/components/text/plain-text";
import { useMayChange } from "@/components/use-may";

import { ImportLink, Pages } from "./record-lists";

export function PromptList({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(promptPages(projectId));
  const mayChange = useMayChange(projectId);
  const loaded = query.data?.pages.flatMap(({ items }) => items) ?? [];
  const hasTruth = loaded.some(({ reference }) => reference !== null);
  return (
    <Pages
      query={query}
      columns={[
        "Prompt",
        ...(hasTruth ? ["Ground truth"] : []),
        "Tags and metadata",
        ["Turns", "num"],
        "Added",
      ]}
      empty={
        <Empty icon="data" title="No prompts yet" actions={<ImportLink projectId={projectId} />}>
          {mayChange
            ? "Import a file with one prompt per record: JSONL (one JSON object per line), JSON, CSV or Parquet."
            : "Prompts are the questions that models answer."}
        </Empty>
      }
      row={(prompt) => (
        <>
          <td className="text">
            <FirstLines text={firstWords(prompt.messages)} />
          </td>
          {hasTruth && (
            <td className="text truth">
              {prompt.reference !== null && <FirstLines text={prompt.reference} />}
            </td>
          )}
          <td>
            <Known prompt={prompt} />
          </td>
          <td className="num">{prompt.messages.length}</td>
          <td className="small muted">
            <Ago at={prompt.created_at} />
          </td>
        </>
      )}
    />
  );
}

function Known({ prompt: { tags, metadata } }: { prompt: Prompt }) {
  const known = Object.entries(metadata).map(([key, value]) => `${key}: ${shown(value)}`);
  return (
    <>
      {tags.map((tag) => (
        <span key={tag} className="tag">
          <PlainText text={tag} />
        </span>
      ))}
      {known.length > 0 && (
        <div className="small faint">
          <FirstLines text={known.join(", ")} />
        </div>
      )}
    </>
  );
}

const shown = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);
