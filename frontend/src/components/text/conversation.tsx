/** A prompt as the conversation it is; a single user turn is shown as plain text. */
import type { Message } from "@/api/types";

export function Conversation({ messages }: { messages: readonly Message[] }) {
  if (messages.length === 1 && messages[0]?.role === "user")
    return <p className="plain">{messages[0].content}</p>;
  return (
    <ol className="turns">
      {messages.map((message, place) => (
        <li key={place} className={message.role}>
          <span className="who">{message.role}</span>
          <p className="plain">{message.content}</p>
        </li>
      ))}
    </ol>
  );
}

/** The last user turn, for lists. */
export function firstWords(messages: readonly Message[]): string {
  return messages.findLast((message) => message.role === "user")?.content ?? "";
}
