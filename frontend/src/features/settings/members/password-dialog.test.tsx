// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { User } from "@/api/types";

import { MembersTab } from "./members-tab";

vi.mock("@/lib/clipboard", () => ({ copyText: () => Promise.resolve(true) }));

const admin = { id: "usr_me", role: "admin", memberships: [] } as unknown as User;
const member = (id: string, name: string, email: string | null, role = "annotator") => ({
  ...{ id, name, email, role, is_active: true, judgments: 0, guidelines_version: null },
  ...{ acknowledged_at: null, practice_attempt: null, practice_passed_at: null },
  created_at: "2026-11-28T00:00:00Z",
});
const MEMBERS = [
  member("usr_me", "Me", "me@x.test", "admin"),
  member("usr_ada", "Ada", "ada@x.test"),
  member("usr_robot", "Robot", null),
];

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let sent: { path: string; body: unknown }[];
/** What the service says to a new password. */
let say: () => Promise<Response>;

const ok = (body: object) => new Response(JSON.stringify(body));
const settled = () => act(() => new Promise((resolve) => setTimeout(resolve, 5)));

function answer(path: string, init?: RequestInit): Promise<Response> {
  if (init?.method === "PATCH") {
    sent.push({ path, body: JSON.parse(String(init.body)) as unknown });
    return say();
  }
  if (path.includes("/members?")) return Promise.resolve(ok({ items: MEMBERS, next_cursor: null }));
  if (path.includes("/invitations")) return Promise.resolve(ok({ items: [], next_cursor: null }));
  return Promise.resolve(ok({ version: 0, guidelines: "", comparisons: 0 }));
}

async function open(user: User): Promise<void> {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <MembersTab projectId="prj_1" user={user} />
      </QueryClientProvider>,
    ),
  );
  await vi.waitFor(async () => {
    await settled();
    expect(ground.textContent).toContain("Ada");
  });
}

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", answer);
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
  };
  sent = [];
  say = () => Promise.resolve(ok({}));
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(async () => {
  await settled();
  act(() => page.unmount());
});

const buttons = () => [...ground.querySelectorAll("button")];
const named = (name: string) =>
  buttons().find((one) => (one.getAttribute("aria-label") ?? one.textContent) === name);
async function press(name: string): Promise<void> {
  expect(named(name), name).toBeDefined();
  act(() => named(name)?.click());
  await settled();
}
const dialog = () => ground.querySelector("dialog");
const title = () => dialog()?.querySelector("h2")?.textContent;
const field = (label: string) => {
  const tied = [...ground.querySelectorAll("label")].find((one) => one.textContent === label);
  return ground.querySelector<HTMLInputElement>(`[id="${tied?.htmlFor ?? ""}"]`);
};
const write = (label: string, text: string) =>
  act(() => {
    const input = field(label);
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(input, text);
    input?.dispatchEvent(new InputEvent("input", { bubbles: true }));
  });
const escape = async () => {
  act(() => {
    dialog()?.dispatchEvent(new Event("cancel", { cancelable: true }));
  });
  await settled();
};

it("makes a password that is shown once, until it is copied", async () => {
  await open(admin);
  await press("New password for Ada");
  expect(dialog()?.textContent).toContain("Ada is signed out of every browser at once");
  const made = field("New password")?.value ?? "";
  expect(made).toMatch(/^([a-z2-9]{5}-){3}[a-z2-9]{5}$/);
  await press("Make another");
  const password = field("New password")?.value ?? "";
  expect(password).not.toBe(made);

  await press("Set password");
  expect(sent).toEqual([{ path: "/api/v1/users/usr_ada", body: { password } }]);
  expect(title()).toBe("The new password of Ada");
  expect(dialog()?.textContent).toContain("ada@x.test");
  const shown = ground.querySelector<HTMLInputElement>("[aria-label='New password of Ada']");
  expect(shown?.value).toBe(password);

  await escape();
  expect(dialog()?.querySelector(".dialog-foot [role=status]")?.textContent).toMatch(/^Copy the/);
  await press("Copy the new password of Ada");
  await escape();
  expect(dialog()).toBeNull();
});

it("shows the password of a dialog that was closed before the answer came", async () => {
  let come: (response: Response) => void = () => undefined;
  say = () => new Promise((resolve) => (come = resolve));
  await open(admin);
  await press("New password for Ada");
  await press("Set password");
  await escape();
  expect(dialog()).toBeNull();

  come(ok({}));
  await settled();
  expect(title()).toBe("The new password of Ada");
});

it("keeps what was typed where the service refuses it, and says why", async () => {
  const problem = { title: "Too many tries", detail: "another password is being hashed" };
  say = () => Promise.resolve(new Response(JSON.stringify(problem), { status: 429 }));
  await open(admin);
  await press("New password for Ada");
  write("New password", "too short");
  expect(named("Set password")?.disabled).toBe(true);
  expect(dialog()?.textContent).toContain("At least 10 characters.");
  write("New password", "a long enough secret");
  await press("Set password");
  expect(dialog()?.querySelector("[role=alert]")?.textContent).toContain("is being hashed");
  expect(field("New password")?.value).toBe("a long enough secret");
});

it("asks for the address that a person without one signs in with", async () => {
  await open(admin);
  await press("New password for Robot");
  write("E-mail", "robot@x.test");
  write("New password", "a long enough secret");
  await press("Set password");
  expect(sent.map(({ body }) => body)).toEqual([
    { password: "a long enough secret", email: "robot@x.test" },
  ]);
  expect(dialog()?.textContent).toContain("robot@x.test");
});

it("is for administrators alone, and not for their own password", async () => {
  await open(admin);
  expect(named("New password for Me")).toBeUndefined();
  act(() => page.unmount());
  page = createRoot(ground);
  await open({ id: "usr_lead", role: "researcher", memberships: [] } as unknown as User);
  expect(ground.textContent).not.toContain("New password");
});
