/** The people of a pasted list: one a line, with an e-mail address if there is one. */
import type { InvitedPerson } from "@/api/types";

const ADDRESS = /[^\s@<>,;"]+@[^\s@<>,;"]+/;

/**
 * `Ada Lovelace`, `Ada Lovelace <ada@example.org>`, `ada@example.org, Ada`. An address is one person;
 * two lines with the same name alone may be two people.
 */
export function pastedPeople(text: string): InvitedPerson[] {
  const found = new Map<string, InvitedPerson>();
  for (const [place, line] of text.split(/\r?\n/).entries()) {
    const email = ADDRESS.exec(line)?.[0] ?? null;
    const rest = email === null ? line : line.replace(email, " ");
    const name =
      rest
        .replace(/[<>,;"\t]/g, " ")
        .replace(/\s+/g, " ")
        .trim() ||
      (email ?? "");
    if (name !== "") found.set(email?.toLowerCase() ?? place.toString(), { name, email });
  }
  return [...found.values()];
}

/** The names that stand there more than once without an address. */
export function namesakes(people: readonly InvitedPerson[]): string[] {
  const seen = new Map<string, { name: string; n: number }>();
  for (const { name, email } of people) {
    if (email !== null) continue;
    const before = seen.get(name.toLowerCase()) ?? { name, n: 0 };
    seen.set(name.toLowerCase(), { ...before, n: before.n + 1 });
  }
  return [...seen.values()].filter(({ n }) => n > 1).map(({ name }) => name);
}
