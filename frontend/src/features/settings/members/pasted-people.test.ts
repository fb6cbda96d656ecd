import { expect, test } from "vitest";

import { namesakes, pastedPeople } from "./pasted-people";

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

test("an address that stands there twice is one person", () => {
  expect(pastedPeople("Ada <a@x.org>\nA <A@x.org>")).toEqual([{ name: "A", email: "A@x.org" }]);
});

test("two people of one name without an address are two, and it is said", () => {
  const people = pastedPeople("Anna\nBela\nanna \nAnna <a@x.org>\nAnna\nBela <b@x.org>");
  expect(people).toEqual([
    { name: "Anna", email: null },
    { name: "Bela", email: null },
    { name: "anna", email: null },
    { name: "Anna", email: "a@x.org" },
    { name: "Anna", email: null },
    { name: "Bela", email: "b@x.org" },
  ]);
  expect(namesakes(people)).toEqual(["Anna"]);
});
