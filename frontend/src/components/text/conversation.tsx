/** A prompt as the conversation it is; of a single user turn, who speaks goes without saying. */
import type { Message } from "@/api/types";

import { Markdown } from "./markdown";
import { RawText } from "./long/long-text";

export interface ConversationProps {
  readonly messages: readonly Message[];
  /** Whether it is shown as it was written. */
  readonly isRaw: boolean;
}

export function Conversation({ messages, isRaw }: ConversationProps) {
  if (messages.length === 1 && messages[0]?.role === "user")
    return <Turn content={messages[0].content} isRaw={isRaw} />;
  return (
    <ol className="turns">
      {messages.map((message, place) => (
        <li key={place} className={message.role}>
          <span className="who">{message.role}</span>
          <Turn content={message.content} isRaw={isRaw} />
        </li>
      ))}
    </ol>
  );
}

function Turn({ content, isRaw }: { content: string; isRaw: boolean }) {
  return isRaw ? <RawText text={content} /> : <Markdown text={content} />;
}

/** The last user turn, for lists. */
export function firstWords(messages: readonly Message[]): string {
  return messages.findLast((message) => message.role === "user")?.content ?? "";
}
