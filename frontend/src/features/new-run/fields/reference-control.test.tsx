// @vitest-environment window
import { renderToStaticMarkup } from "react-dom/server";
import { MemoryRouter } from "react-router";
import { expect, it } from "vitest";

import type { Json, Method, Model } from "@/api/types";
import type { FieldOf } from "@/features/new-run/config/schema";

import { FormProvider, type Form } from "./form-context";
import { ReferenceControl } from "./reference-control";

const METHODS = [{ method: "reward_model", result: "reward_model" } as Method];

function shown(wants: string, models: readonly Model[], value?: Json): HTMLElement {
  const form = {
    projectId: "prj_1",
    methods: METHODS,
    candidates: { models, snapshots: [] },
    beginWith: () => undefined,
  } as unknown as Form;
  const field = {
    name: "model",
    type: "reference",
    wants,
    isRequired: true,
  } as FieldOf<"reference">;
  const page = document.createElement("div");
  page.innerHTML = renderToStaticMarkup(
    <MemoryRouter>
      <FormProvider value={form}>
        <ReferenceControl
          {...{ field, value }}
          id="field-model"
          describedBy=""
          isInvalid={false}
          onChange={() => undefined}
        />
      </FormProvider>
    </MemoryRouter>,
  );
  return page;
}

const model = (kind: Model["kind"]) =>
  ({ id: "mdl_1", name: "one", kind, run_id: null, created_at: "2026-01-01T00:00:00Z" }) as Model;
const options = (page: HTMLElement) =>
  [...page.querySelectorAll("option")].map(({ textContent }) => textContent);

it("offers the hub for a language model alone: no other can come from there", () => {
  expect(shown("causal_lm", []).textContent).toBe(
    "No language model yet. Register one in Models or use one from the Hugging Face Hub.",
  );
  expect(shown("reward_model", []).textContent).toBe(
    "No reward model yet. Train one, or register one in Models.",
  );
  expect(options(shown("causal_lm", [model("causal_lm")])).at(-1)).toContain("Hugging Face Hub id");
  expect(options(shown("reward_model", [model("reward_model")])).join()).not.toContain("Hub");
});

it("still shows the hub where a config from elsewhere names it, so that it can be changed", () => {
  const page = shown("reward_model", [model("reward_model")], { hub_id: "owner/name" });

  expect(options(page).at(-1)).toContain("Hugging Face Hub id");
  expect(page.querySelector("input")?.value).toBe("owner/name");
});
