import { expect, test } from "vitest";

import { pastedPeople } from "./pasted-people";

test("a list may have names, addresses or both, in the ways in which people write them", () => {
  const text = [
    "Ada Lovelace",
    "  Bela Bartók <bela@example.org>",
    "chidi@example.org",
    '"Okoye, Devi" <devi@example.org>',
    "emre@example.org, Emre",
    "Fumi\tfumi@example.org",
    "",
    "   ",
  ].join("\r\n");
  expect(pastedPeople(text)).toEqual([
    { name: "Ada Lovelace", email: null },
    { name: "Bela Bartók", email: "bela@example.org" },
    { name: "chidi@example.org", email: "chidi@example.org" },
    { name: "Okoye Devi", email: "devi@example.org" },
    { name: "Emre", email: "emre@example.org" },
    { name: "Fumi", email: "fumi@example.org" },
  ]);
});

test("who is named twice is invited once", () => {
  expect(pastedPeople("Ada\nada \nAda <a@x.org>\nA <A@x.org>")).toEqual([
    { name: "ada", email: null },
    { name: "A", email: "A@x.org" },
  ]);
});
