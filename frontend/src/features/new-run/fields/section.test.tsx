// @vitest-environment window
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it } from "vitest";

import type { Field } from "@/features/new-run/config/schema";

import { Fields } from "./field-row";
import { fieldId, FormProvider, type Form } from "./form-context";

const common = { description: "", isRequired: false, isNullable: false, whenAbsent: null };
const coef: Field = { ...common, name: "coef", fallback: false, type: "switch" };
const section = (name: string, more: Partial<Field> = {}) =>
  ({ ...common, name, fallback: undefined, type: "section", fields: [coef], ...more }) as Field;
const FIELDS = [section("clip"), section("lora", { isNullable: true }), section("kl")];

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => act(() => page.unmount()));

const show = (form: Partial<Form>) =>
  act(() =>
    page.render(
      <FormProvider value={{ config: {}, problems: [], asked: null, ...form } as unknown as Form}>
        <Fields fields={FIELDS} prefix="" />
      </FormProvider>,
    ),
  );
const at = (path: string) => document.getElementById(fieldId(path));
const fold = () => act(() => at("kl")?.querySelector("button")?.click());

it("has a place that a link leads to, whether it can be off or not", () => {
  show({});
  for (const path of ["clip", "lora", "kl"]) {
    at(path)?.focus();
    expect(document.activeElement).toBe(at(path));
    expect(at(path)).not.toBeNull();
  }
});

it("opens when a link leads into it, also where it was folded", () => {
  const problem = { path: "kl.coef", level: "error", message: "is 7", advice: null } as const;
  const problems = [problem];
  show({ problems });
  expect(at("kl.coef")).not.toBeNull();
  fold();
  expect(at("kl.coef")).toBeNull();

  show({ problems, asked: { place: "kl.coef" } });
  expect(at("kl.coef")).not.toBeNull();
  expect(at("clip.coef")).toBeNull();
  fold();
  expect(at("kl.coef")).toBeNull();
  show({ problems, asked: { place: "kl.coef" } });
  expect(at("kl.coef")).not.toBeNull();
});
