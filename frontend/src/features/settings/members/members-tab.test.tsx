// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, useLayoutEffect } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { User } from "@/api/types";
import { dropAllUnseen, useUnseen, type Unseen } from "@/lib/unseen";

import { MembersTab } from "./members-tab";

vi.mock("@/lib/clipboard", () => ({ copyText: () => Promise.resolve(true) }));
let unseen: readonly Unseen[] = [];
function Frame() {
  const now = useUnseen();
  useLayoutEffect(() => {
    unseen = now;
  }, [now]);
  return null;
}
const told = () => unseen.map(({ what }) => what);

const admin = { id: "usr_me", role: "admin", memberships: [] } as unknown as User;
const lead = { id: "usr_lead", role: "researcher", memberships: [] } as unknown as User;
const member = (id: string, name: string, email: string | null, role = "annotator") => ({
  ...{ id, name, email, role, is_active: true, judgments: 0, guidelines_version: null },
  ...{ acknowledged_at: null, practice_attempt: null, practice_passed_at: null },
  created_at: "2026-11-28T00:00:00Z",
});
const MEMBERS = [
  member("usr_me", "Me", "me@x.test", "admin"),
  member("usr_ada", "Ada", "ada@x.test"),
  member("usr_ben", "Ben", "ben@x.test"),
  member("usr_robot", "Robot", null),
];

const DAY_MS = 86_400_000;
const MADE_AT = Date.parse("2026-11-28T00:00:00Z");
const invitation = (name: string, days: number, role = "annotator") => ({
  ...{ id: `inv_${name}`, name, email: null, role, state: "open", token: `token-of-${name}` },
  ...{ invited_by: "usr_me", invited_by_name: "Me", user_id: null },
  created_at: new Date(MADE_AT).toISOString(),
  expires_at: new Date(MADE_AT + days * DAY_MS).toISOString(),
});

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let sent: { path: string; body: unknown }[];
/** What the service says to what is sent. */
let say: () => Promise<Response>;
let invitations: object[];

const ok = (body: object) => new Response(JSON.stringify(body));
const settled = () => act(() => new Promise((resolve) => setTimeout(resolve, 5)));

function answer(path: string, init?: RequestInit): Promise<Response> {
  if (["PATCH", "POST"].includes(init?.method ?? "")) {
    sent.push({ path, body: JSON.parse(String(init?.body)) as unknown });
    return say();
  }
  if (path.includes("/members?")) return Promise.resolve(ok({ items: MEMBERS, next_cursor: null }));
  if (path.includes("/invitations"))
    return Promise.resolve(ok({ items: invitations, next_cursor: null }));
  return Promise.resolve(ok({ version: 0, guidelines: "", comparisons: 0 }));
}

let client: QueryClient;
/** The frame of the pages, with the tab or with another page. */
const draw = (user: User | null) =>
  act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <Frame />
        {user !== null && <MembersTab projectId="prj_1" user={user} />}
      </QueryClientProvider>,
    ),
  );

async function open(user: User): Promise<void> {
  client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  draw(user);
  const isThere = () => client.isFetching() === 0 && ground.textContent.includes("Ada");
  for (let looks = 0; looks < 100 && !isThere(); looks++) await settled();
  // What came last is drawn.
  await settled();
  expect(ground.textContent).toContain("Ada");
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
  [sent, invitations] = [[], []];
  dropAllUnseen();
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
  buttons().find((one) => (one.getAttribute("aria-label") ?? one.textContent.trim()) === name);
async function press(name: string): Promise<void> {
  expect(named(name), name).toBeDefined();
  act(() => named(name)?.click());
  await settled();
}
const dialog = () => ground.querySelector("dialog");
const title = () => dialog()?.querySelector("h2")?.textContent;
const field = (label: string): HTMLInputElement | null => {
  const tied = [...ground.querySelectorAll("label")].find((one) => one.textContent === label);
  return ground.querySelector<HTMLInputElement>(`[id="${tied?.htmlFor ?? ""}"]`);
};
const write = (label: string, text: string) =>
  act(() => {
    const input = field(label);
    const kind: object = Object.getPrototypeOf(input) as object;
    Object.getOwnPropertyDescriptor(kind, "value")?.set?.call(input, text);
    input?.dispatchEvent(new Event("input", { bubbles: true }));
  });
const choose = (label: string, value: string) =>
  act(() => {
    const select = field(label);
    if (select !== null) select.value = value;
    select?.dispatchEvent(new Event("change", { bubbles: true }));
  });
const status = () => dialog()?.querySelector(".dialog-foot [role=status]")?.textContent;
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
  expect(status()).toMatch(/^Copy the/);
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
  await open(lead);
  expect(ground.textContent).not.toContain("New password");
});

async function inviteTwo(): Promise<void> {
  await open(admin);
  await press("Invite people");
  write("Names, one per line", "Ilse\nJan");
  await press("Make 2 links");
}
const LINKS = { items: [invitation("Ilse", 7), invitation("Jan", 7)] };

it("keeps links that nobody can see again until all are copied, or until Done", async () => {
  say = () => Promise.resolve(ok(LINKS));
  await inviteTwo();
  expect(title()).toBe("2 links to pass on");
  await escape();
  expect(status()).toBe("Copy the 2 links first, or choose Done: links are shown only now.");
  await press("Copy the link for Ilse");
  await escape();
  expect(status()).toBe("Copy the link that you have not copied, or choose Done.");
  await press("Copy all names and links");
  await escape();
  expect(dialog()).toBeNull();

  await inviteTwo();
  await press("Done");
  expect(dialog()).toBeNull();
});

it("shows the links of a dialog that was closed before the answer came", async () => {
  let come: (response: Response) => void = () => undefined;
  say = () => new Promise((resolve) => (come = resolve));
  await inviteTwo();
  expect(named("Making links…")?.disabled).toBe(true);
  await escape();
  expect(dialog()).toBeNull();
  come(ok(LINKS));
  await settled();
  expect(title()).toBe("2 links to pass on");
  await press("Done");

  await inviteTwo();
  await escape();
  come(new Response("{}", { status: 403 }));
  await settled();
  expect(told()).toEqual(["The links for 2 people were not made."]);
});

/** Each request waits until its answer is given. */
function waiting() {
  const answers: ((response: Response) => void)[] = [];
  say = () => new Promise((resolve) => answers.push(resolve));
  return async (place: number, response: Response) => {
    expect(answers.length).toBeGreaterThan(place);
    answers[place]?.(response);
    await settled();
  };
}
const shownPassword = (name: string) =>
  ground.querySelector<HTMLInputElement>(`[aria-label='New password of ${name}']`)?.value;

it("shows one password after another where two answers come to closed dialogs", async () => {
  const give = waiting();
  await open(admin);
  for (const name of ["Ada", "Ben"]) {
    await press(`New password for ${name}`);
    write("New password", `a secret of ${name}`);
    await press("Set password");
    await escape();
  }
  await give(0, ok({}));
  expect(shownPassword("Ada")).toBe("a secret of Ada");
  await give(1, ok({}));
  expect(shownPassword("Ada")).toBe("a secret of Ada");
  await press("Copy the new password of Ada");
  await escape();
  expect(title()).toBe("The new password of Ben");
  expect(shownPassword("Ben")).toBe("a secret of Ben");
  await escape();
  expect(status()).toMatch(/^Copy the/);
  await press("Done");
  expect(dialog()).toBeNull();
});

it("keeps a form that is being filled in when an answer comes to the one before", async () => {
  const give = waiting();
  await open(admin);
  await press("New password for Ada");
  await press("Set password");
  await escape();
  await press("New password for Ben");
  write("New password", "a secret of Ben");
  await give(0, ok({}));
  expect(title()).toBe("The new password of Ada");
  await press("Done");
  expect(title()).toBe("A new password for Ben");
  expect(field("New password")?.value).toBe("a secret of Ben");
});

it("adds links to those that nobody has put away", async () => {
  invitations = [invitation("Ilse", 7), invitation("Jan", 7)];
  const give = waiting();
  await open(admin);
  for (const name of ["Ilse", "Jan"]) {
    await press(`Renew the link of ${name}`);
    await press("Make a new link");
    await escape();
  }
  await give(0, ok(invitation("Ilse", 7)));
  await press("Copy the link for Ilse");
  await give(1, ok(invitation("Jan", 7)));
  expect(title()).toBe("2 new links to pass on");
  await escape();
  expect(status()).toBe("Copy the link that you have not copied, or choose Done.");
});

it("takes away no links when none could be renewed, and shows the newest one of a person", async () => {
  invitations = [invitation("Ilse", 7), invitation("Jan", 7)];
  const give = waiting();
  await open(admin);
  for (const verb of ["Renew the link of Ilse", "Renew all 2", "Renew the link of Ilse"]) {
    await press(verb);
    await press(verb === "Renew all 2" ? "Make 2 new links" : "Make a new link");
    await escape();
  }
  await give(0, ok(invitation("Ilse", 7)));
  await press("Copy the link for Ilse");
  await give(1, ok({ items: [] }));
  expect(title()).toBe("1 new link to pass on");
  await give(2, ok({ ...invitation("Ilse", 7), token: "a-later-token" }));
  expect(title()).toBe("1 new link to pass on");
  const shown = ground.querySelector<HTMLInputElement>("[aria-label='Link for Ilse']");
  expect(shown?.value).toContain("a-later-token");
  // The one that was copied works no longer.
  await escape();
  expect(status()).toMatch(/^Copy the link/);
});

it("says what was made for nobody to see after its page was left", async () => {
  invitations = [invitation("Ilse", 7), invitation("Jan", 7)];
  const give = waiting();
  await open(admin);
  await press("Renew all 2");
  await press("Make 2 new links");
  await escape();
  await press("New password for Ada");
  await press("Set password");
  await escape();
  await press("Invite people");
  write("Names, one per line", "Kim");
  await press("Make 1 link");
  draw(null);
  await give(0, ok({ items: invitations }));
  await give(1, ok({}));
  await give(2, ok({ items: [invitation("Kim", 7)] }));
  const where = "under Open invitations, on the Members tab of Settings.";
  expect(told()).toEqual([
    `The links of 2 people were renewed, but you left the page that shows them: renew them again ${where}`,
    "The password of Ada was changed, but you left the page that shows it: if you have not copied it, set another one on the Members tab of Settings.",
    `The link of Kim was made, but you left the page that shows it: renew it ${where}`,
  ]);
  expect(unseen.map(({ error, again }) => [error, again])).toEqual([
    [null, null],
    [null, null],
    [null, null],
  ]);
});

it("tries again only while the page is there that shows what is made", async () => {
  const give = waiting();
  await inviteTwo();
  await escape();
  await give(0, new Response("{}", { status: 403 }));
  act(() => unseen[0]?.again?.());
  await settled();
  await give(1, ok(LINKS));
  expect(title()).toBe("2 links to pass on");
  await press("Done");

  draw(null);
  await settled();
  expect(told()).toEqual(["The links for 2 people were not made."]);
  expect(unseen[0]?.again).toBeNull();
});

it("renews all links at once, for as long as they were made", async () => {
  invitations = [invitation("Ilse", 30), invitation("Jan", 30), invitation("Kim", 30)];
  say = () => Promise.resolve(ok({ items: invitations.slice(0, 2) }));
  await open(admin);
  await press("Renew all 3");
  expect(title()).toBe("Renew the links of 3 people");
  expect(field("Each new link works once, within")?.value).toBe(String(30 * 86_400));
  await press("Make 3 new links");
  expect(sent).toEqual([
    {
      path: "/api/v1/projects/prj_1/invitations/renew",
      body: { invitation_ids: ["inv_Ilse", "inv_Jan", "inv_Kim"], expires_in_s: 30 * 86_400 },
    },
  ]);
  expect(title()).toBe("2 new links to pass on");
  expect(named("Copy the link for Jan")).toBeDefined();
});

it("renews one link for as long as is chosen", async () => {
  // Renewed five days after it was made, for a day.
  invitations = [invitation("Ilse", 6)];
  say = () => Promise.resolve(ok(invitation("Ilse", 6)));
  await open(admin);
  expect(named("Renew all 1")).toBeUndefined();
  await press("Renew the link of Ilse");
  expect(field("The new link works once, within")?.value).toBe(String(86_400));
  choose("The new link works once, within", String(7 * 86_400));
  await press("Make a new link");
  expect(sent).toEqual([
    {
      path: "/api/v1/projects/prj_1/invitations/inv_Ilse/renew",
      body: { expires_in_s: 7 * 86_400 },
    },
  ]);
  expect(title()).toBe("1 new link to pass on");
});

it("renews no link for an administrator where a researcher renews all", async () => {
  invitations = [invitation("Root", 7, "admin"), invitation("Ilse", 7), invitation("Jan", 1)];
  await open(lead);
  await press("Renew all 2");
  // Theirs differ.
  expect(field("Each new link works once, within")?.value).toBe(String(7 * 86_400));
  await press("Make 2 new links");
  expect(sent[0]?.body).toMatchObject({ invitation_ids: ["inv_Ilse", "inv_Jan"] });
});
