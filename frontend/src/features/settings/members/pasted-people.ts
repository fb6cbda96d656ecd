/** The people of a pasted list: one a line, with an e-mail address if there is one. */
import type { InvitedPerson } from "@/api/types";

const ADDRESS = /[^\s@<>,;"]+@[^\s@<>,;"]+/;

/** `Ada Lovelace`, `Ada Lovelace <ada@example.org>`, `ada@example.org, Ada`; each person once. */
export function pastedPeople(text: string): InvitedPerson[] {
  const found = new Map<string, InvitedPerson>();
  for (const line of text.split(/\r?\n/)) {
    const email = ADDRESS.exec(line)?.[0] ?? null;
    const rest = email === null ? line : line.replace(email, " ");
    const name =
      rest
        .replace(/[<>,;"\t]/g, " ")
        .replace(/\s+/g, " ")
        .trim() ||
      (email ?? "");
    if (name !== "") found.set((email ?? name).toLowerCase(), { name, email });
  }
  return [...found.values()];
}
