import { expect, it } from "vitest";

import { address } from "@/api/client";
import { answersQuery } from "@/api/runs";

import { askedIn, hasBaseline, OWN, setsOf } from "./asked";

const asked = (search: string) => askedIn(new URLSearchParams(search));

it("asks for all answers where the address says nothing, or what nobody knows", () => {
  const all = { set_name: null, model: null, passed: null };
  expect(asked("")).toEqual(all);
  expect(asked("of=&who=&passed=")).toEqual(all);
  expect(asked("who=somebody&passed=maybe")).toEqual(all);
});

it("asks for those of a set, of a model, and that passed or not", () => {
  expect(asked("of=hard&who=baseline&passed=false")).toEqual({
    set_name: "hard",
    model: "baseline",
    passed: false,
  });
  expect(asked(`of=${OWN}&passed=true`)).toMatchObject({ set_name: "", passed: true });
});

it("asks the service for the run's own prompts by an empty name, and for all by none", () => {
  const sent = (search: string) => address("/a", answersQuery(asked(search), null));
  expect(sent(`of=${OWN}`)).toMatch(/\/a\?limit=20&set_name=$/);
  expect(sent("of=hard&passed=false")).toMatch(/\/a\?limit=20&passed=false&set_name=hard$/);
  expect(sent("")).toMatch(/\/a\?limit=20$/);
});

it("offers the sets of an evaluation beside the run's own prompts", () => {
  expect(setsOf({ config: {} })).toEqual([]);
  expect(setsOf({ config: { evaluation_sets: [] } })).toEqual([]);
  const names = setsOf({ config: { evaluation_sets: [{ name: "hard" }, { name: "ood" }] } });
  expect(names.map(([value]) => value)).toEqual(["", OWN, "hard", "ood"]);
  expect(hasBaseline({ config: { baseline_model: null } })).toBe(false);
  expect(hasBaseline({ config: { baseline_model: { id: "model_1" } } })).toBe(true);
});
