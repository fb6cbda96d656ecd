// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Assignment } from "@/api/types";
import { turnSingleLetters } from "@/lib/shortcuts/single-letter";

import { Comparison, type ComparisonProps } from "./comparison";
import { wordsOf } from "./ranking/ranking";
import { lastSaid } from "./keys/twice";

const assignment = (count: number, ...criteria: string[]): Assignment => ({
  id: "as_1",
  comparison: {
    id: "cmp_1",
    prompt: { id: "prm_1", messages: [{ role: "user", content: "Which?" }] },
    responses: Array.from({ length: count }, (_, n) => ({ id: `rsp_${n}`, content: `No. ${n}` })),
  },
  criteria: criteria.map((name) => ({ name, question: `Which is more ${name}?` })),
  presented_order: Array.from({ length: count }, (_, n) => `rsp_${n}`),
  expires_at: "",
});

let sent: string[] = [];
let skipped: string[] = [];
let reopened = 0;
const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  // jsdom knows no modal windows.
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
  };
  // It lays nothing out.
  Element.prototype.scrollIntoView = () => undefined;
  globalThis.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  localStorage.clear();
  document.body.append(ground);
  [sent, skipped, reopened] = [[], [], 0];
  lastSaid.forget();
  page = createRoot(ground);
});
afterEach(() => act(() => page.unmount()));

function show(shown: Assignment, more: Partial<ComparisonProps> = {}): void {
  const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  act(() =>
    page.render(
      <StrictMode>
        <QueryClientProvider client={client}>
          <Comparison
            key={shown.id}
            page="rank"
            projectId="prj_1"
            assignment={shown}
            onReopen={() => (reopened += 1)}
            onSubmit={(_, ranking) => sent.push(wordsOf(ranking))}
            onSkip={(_, reason) => skipped.push(reason)}
            {...more}
          />
        </QueryClientProvider>
      </StrictMode>,
    ),
  );
}

/** What a keyboard sends before React draws anything. */
function inOneTask(...keys: string[]): void {
  act(() => {
    for (const key of keys)
      document.body.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
      );
  });
}

it("submits what the keys before Enter have said, drawn or not", () => {
  show(assignment(4));
  inOneTask("b", "a");
  inOneTask("=", "d", "c", "Enter");
  expect(sent).toEqual(["B > A = D > C"]);
});

it("undoes the key before Z, and nothing of the comparison before", () => {
  show(assignment(4));
  inOneTask("b", "a", "z", "c", "Enter");
  expect([sent, reopened]).toEqual([["B > C"], 0]);
});

it("leads on through criteria whose keys come at once", () => {
  show(assignment(2, "helpful", "harmless"));
  inOneTask("a", "b");
  expect(sent).toEqual(["helpful: A > B; harmless: B > A"]);
});

it.each(["revise", "practice"] as const)(
  "sends by Enter alone what cannot be taken back: %s",
  (on) => {
    show(assignment(2), { page: on, onReopen: null, onSkip: null });
    const names = [ground.querySelector("#card-A .letter"), chip("A")].map((one) =>
      one?.getAttribute("aria-label"),
    );
    expect(names).toEqual(["A is better", "A is better"]);
    press("Submit");
    expect(heard()).toBe("Choose the better response or the tie.");
    inOneTask("a");
    expect(heard()).toBe("B is 2nd. All are ranked: submit (Enter).");
    expect(sent).toEqual([]);
    inOneTask("b", "b", "Enter");
    expect(sent).toEqual(["B > A"]);
  },
);

it("takes back one key on Revise, though it was pressed twice", () => {
  show(assignment(2), { page: "revise", onReopen: null, onSkip: null });
  inOneTask("a", "b", "b", "z", "Enter");
  expect(sent).toEqual(["A > B"]);
});

it("leads by one key through the criteria of a revision, and not out of it", () => {
  show(assignment(2, "helpful", "harmless"), { page: "revise", onReopen: null, onSkip: null });
  inOneTask("a", "b");
  expect(sent).toEqual([]);
  inOneTask("=", "Enter");
  expect(sent).toEqual(["helpful: A > B; harmless: A = B"]);
});

it("judges one comparison by a double click, not the one that comes next", () => {
  const clickTie = () => {
    const tie = ground.querySelector<HTMLButtonElement>("button[aria-label^='Tie']");
    act(() => tie?.click());
  };
  show(assignment(2));
  clickTie();
  show({ ...assignment(2), id: "as_2" });
  clickTie();
  expect(sent).toEqual(["A = B"]);
  inOneTask("b");
  expect(sent).toEqual(["A = B", "B > A"]);
});

it("knows a double click also where the next comparison was slow to come", () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(1000);
  show(assignment(2));
  inOneTask("a");
  now.mockReturnValue(3000);
  show({ ...assignment(2), id: "as_2" });
  now.mockReturnValue(3100);
  inOneTask("a");
  expect(sent).toEqual(["A > B"]);
  now.mockReturnValue(3600);
  inOneTask("a");
  expect(sent).toEqual(["A > B", "A > B"]);
  now.mockRestore();
});

it("takes the same answer again at once after Undo", () => {
  show(assignment(2, "helpful", "harmless"));
  inOneTask("a", "z", "a", "b");
  expect(sent).toEqual(["helpful: A > B; harmless: B > A"]);
});

it("looks as many responses further as there were arrows, and shows all again after M twice", () => {
  show(assignment(4));
  inOneTask("ArrowRight", "ArrowRight", "ArrowRight", "m", "m");
  expect(ground.querySelector(".resp.focus")?.id).toBe("card-C");
  expect(ground.querySelector(".cards.alone")).toBeNull();
});

it("gives a window the keys that follow the one that opens it", () => {
  show(assignment(4));
  inOneTask("a", "b", "s", "1", "Enter");
  expect(sent).toEqual([]);
  const ranks = [...ground.querySelectorAll(".resp .rank")].map((rank) => rank.textContent);
  expect(ranks).toEqual(["1st", "2nd", "unranked", "unranked"]);
});

it("skips by a digit of any keyboard, and by nothing that was pressed beside it", () => {
  show(assignment(4));
  inOneTask("s");
  const press = (key: string, more: KeyboardEventInit = {}) => {
    const init = { key, bubbles: true, cancelable: true, ...more };
    act(() => document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", init)));
  };
  // Enter presses the button that has the focus: here none has.
  expect(document.activeElement?.getAttribute("aria-label")).toBe("Why you skip it");
  press("Enter", { code: "Enter" });
  press("1", { code: "Digit1", ctrlKey: true });
  press("9", { code: "Digit9" });
  expect(skipped).toEqual([]);
  // Who has turned single signs off presses a button.
  act(() => turnSingleLetters(false));
  press("1", { code: "Digit1" });
  expect([skipped.length, ground.querySelectorAll("dialog kbd").length]).toEqual([0, 0]);
  act(() => turnSingleLetters(true));
  press("é", { code: "Digit2" });
  expect(skipped).toEqual(["too long for now"]);
});

const button = (name: string) =>
  [...ground.querySelectorAll<HTMLButtonElement>("button")].find((one) =>
    (one.getAttribute("aria-label") ?? one.textContent).trim().startsWith(name),
  );
const press = (name: string) => {
  const pressed = button(name);
  act(() => {
    pressed?.focus();
    pressed?.click();
  });
};
const chip = (letter: string) => ground.querySelector<HTMLButtonElement>(`[data-chip="${letter}"]`);
const heard = () => ground.querySelector("[aria-live=assertive]")?.textContent;

it("leads the focus to the prompt that follows, as the button that judged has gone", () => {
  show(assignment(2));
  press("Tie");
  show({ ...assignment(2), id: "as_2" });
  expect(document.activeElement?.getAttribute("aria-label")).toBe("Prompt");
});

it("keeps the focus on a chip that is ranked, and on a button that can do no more", () => {
  show(assignment(4));
  act(() => chip("C")?.focus());
  act(() => chip("C")?.click());
  expect(document.activeElement).toBe(chip("C"));
  expect(chip("C")?.getAttribute("aria-label")).toBe("Select C");
  press("Unrank");
  expect(document.activeElement).toBe(button("Unrank"));
  expect(document.activeElement?.getAttribute("aria-disabled")).toBe("true");
});

it("tells what is missing, and tells it again", () => {
  show(assignment(4));
  inOneTask("Enter");
  const first = ground.querySelector("[aria-live=assertive] span");
  expect(heard()).toBe("Rank the responses from best to worst.");
  press("Submit");
  expect(heard()).toBe("Rank the responses from best to worst.");
  expect(ground.querySelector("[aria-live=assertive] span")).not.toBe(first);
  inOneTask("a", "z");
  expect(heard()).toBe("Undone. A is unranked.");
  expect(sent).toEqual([]);
});

it("leads a screen reader to the response that the arrows look at", async () => {
  show(assignment(4));
  inOneTask("ArrowRight", "ArrowRight");
  await new Promise((done) => requestAnimationFrame(done));
  expect(document.activeElement?.id).toBe("card-B");
});

it("forgets a draft whose moves are all undone", () => {
  show(assignment(4));
  inOneTask("a");
  inOneTask("z");
  act(() => page.unmount());
  page = createRoot(ground);
  show(assignment(4));
  expect(ground.querySelector(".resp.first")).toBeNull();
});

const titles = () =>
  [...ground.querySelectorAll("button")].map(({ title }) => title).filter((title) => title !== "");

it("names the keys that this annotator has, and none where letters are off", () => {
  localStorage.setItem("podium.keys.", JSON.stringify({ alone: "k" }));
  show(assignment(4));
  expect(titles()).toContain("One response at a time (K)");
  expect(titles()).toContain("Flag for readers of the judgment (Shift A)");
  expect(titles()).toContain("Undo (Z)");
  act(() => turnSingleLetters(false));
  expect(titles()).toContain("One response at a time");
  expect(titles()).toContain("Flag for readers of the judgment");
  expect(titles()).toContain("Move up (↑)");
  expect(titles().some((title) => /\((Shift )?[A-Z=?]\)/.test(title))).toBe(false);
  act(() => turnSingleLetters(true));
});

it("says of two responses on the card and in the bar that the choice submits", () => {
  show(assignment(2));
  const names = [ground.querySelector("#card-A .letter"), chip("A")].map((one) =>
    one?.getAttribute("aria-label"),
  );
  expect(names).toEqual(["A is better: submit", "A is better: submit"]);
  press("Submit");
  expect(heard()).toBe("Choose the better response or the tie: that submits.");
});

it.each([
  [1, "Show all of the prompt, or only its beginning and end (P)"],
  [3, "Show all of the prompt, or only its last turn (P)"],
])("tells what a folded prompt shows, of %i turns", (turns, title) => {
  const shown = assignment(2);
  const messages = Array.from({ length: turns }, () => ({
    role: "user" as const,
    content: "Which?",
  }));
  const prompt = { ...shown.comparison.prompt, messages };
  show({ ...shown, comparison: { ...shown.comparison, prompt } });
  inOneTask("p");
  expect(titles()).toContain(title);
});

const listed = () =>
  [...ground.querySelectorAll("dl.keys dd")].map(({ textContent }) => textContent);

it.each([
  ["rank", true, true],
  ["revise", false, false],
  ["practice", false, false],
] as const)("lists the keys that do something: %s", (on, canSkip, canReopen) => {
  const more = on === "rank" ? {} : { onReopen: null, onSkip: null };
  show(assignment(2), { page: on, ...more });
  inOneTask("?");
  expect(listed()).toContain("add a note");
  expect(listed().includes("skip, with a reason")).toBe(canSkip);
  expect(listed().some((words) => words.includes("reopen the last comparison"))).toBe(canReopen);
  expect(listed().some((words) => words.includes("submits at once"))).toBe(canReopen);
  expect(listed().includes("undo")).toBe(!canReopen);
});

it.each([
  ["rank", "A judgment that was sent cannot be skipped."],
  ["revise", "A judgment that was sent cannot be skipped."],
  ["practice", "Practice cannot be skipped."],
] as const)("says why nothing is skipped: %s", (on, words) => {
  show(assignment(3), { page: on, onSkip: null });
  inOneTask("s");
  expect(heard()).toBe(words);
});

const inSheet = (action: string) =>
  ground.querySelector(`.sheet [data-action="${action}"] .grow`)?.textContent;

it.each([
  ["of two responses", assignment(2), "All bad: submit"],
  ["under a criterion", assignment(2, "helpful", "harmless"), "All bad: next criterion"],
  ["of more", assignment(3), "All bad"],
])("says on the sheet of small screens, too, where All bad leads: %s", (_, shown, words) => {
  show(shown);
  press("More");
  expect(inSheet("all_bad")).toBe(words);
  expect(inSheet("cannot_judge")).toBe("Cannot judge");
});
