// @vitest-environment window
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { keepFocus } from "./kept-focus";

let area: HTMLElement;
let end: (() => void) | undefined;

beforeEach(() => {
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
});
afterEach(() => {
  end?.();
  area.remove();
  vi.restoreAllMocks();
});

function show(html: string): void {
  area = document.createElement("section");
  area.innerHTML = html;
  document.body.append(area);
  end = keepFocus(area);
}

const row = (name: string) =>
  `<li id="${name}"><button aria-label="Renew ${name}"></button><button aria-label="Remove ${name}"></button></li>`;
const button = (name: string) => area.querySelector<HTMLElement>(`[aria-label="${name}"]`);
const one = (selector: string) => area.querySelector<HTMLElement>(selector);
/** The page changes, and what watches it has seen that. */
async function change(how: () => void): Promise<void> {
  how();
  await new Promise((resolve) => setTimeout(resolve));
}
const focused = () => {
  const element = document.activeElement;
  return element?.getAttribute("aria-label") ?? element?.textContent ?? "";
};

describe("the focus of a row that goes", () => {
  it("is on the same button of the next one, or of the last", async () => {
    show(`<h2>People</h2><ul>${row("a")}${row("b")}${row("c")}</ul>`);
    button("Remove b")?.focus();
    await change(() => one("#b")?.remove());
    expect(focused()).toBe("Remove c");
    await change(() => one("#c")?.remove());
    expect(focused()).toBe("Remove a");
    const none = document.createElement("p");
    none.innerHTML = "Nobody is left. <button>Invite</button>";
    await change(() => one("ul")?.replaceWith(none));
    expect(focused()).toBe("People");
  });
  it("is on what is left of the row if only the button goes", async () => {
    show(`<ul>${row("a")}${row("b")}</ul>`);
    button("Remove b")?.focus();
    await change(() => button("Remove b")?.remove());
    expect(focused()).toBe("Renew b");
  });
  it("is on the next row itself where that can have it: no key presses a button unread", async () => {
    const note = (name: string) =>
      `<div data-row tabindex="-1" aria-label="${name}"><button>Send ${name} again</button><button>Discard ${name}</button></div>`;
    show(`<h2>Rank</h2>${note("a")}${note("b")}`);
    const rows = area.querySelectorAll<HTMLElement>("[data-row]");
    rows[0]?.querySelectorAll("button")[1]?.focus();
    await change(() => rows[0]?.remove());
    expect(focused()).toBe("b");
    rows[1]?.querySelectorAll("button")[1]?.focus();
    await change(() => rows[1]?.querySelectorAll("button")[1]?.remove());
    expect(focused()).toBe("Send b again");
    await change(() => rows[1]?.remove());
    expect(focused()).toBe("Rank");
  });
  it("stays where somebody has gone meanwhile", async () => {
    show(`<h2>People</h2><ul>${row("a")}${row("b")}</ul>`);
    button("Remove a")?.focus();
    await change(() => button("Renew b")?.focus());
    await change(() => one("#a")?.remove());
    expect(focused()).toBe("Renew b");
    await change(() => button("Renew b")?.blur());
    await change(() => one("#b")?.remove());
    expect(document.activeElement).toBe(document.body);
  });
});

describe("the focus of an editor", () => {
  it("comes from the button that opens it and goes back there", async () => {
    show(`<h2>Notes</h2><div><button>Edit the notes</button></div><button>Other</button>`);
    one("button")?.focus();
    await change(() => one("div")?.replaceChildren(document.createElement("textarea")));
    expect(document.activeElement?.tagName).toBe("TEXTAREA");
    const edit = document.createElement("button");
    edit.textContent = "Edit the notes";
    await change(() => one("div")?.replaceChildren(edit));
    expect(focused()).toBe("Edit the notes");
  });
  it("does not go back to a button whose row went before", async () => {
    show(`<h2>People</h2><ul>${row("a")}${row("b")}</ul><p><button>Done</button></p>`);
    button("Remove a")?.focus();
    await change(() => one("#a")?.remove());
    one("p > button")?.focus();
    await change(() => one("p")?.remove());
    expect(focused()).toBe("People");
  });
  it("is on the button that has come, not on a link in the text before it", async () => {
    show(`<h2>Notes</h2><div><textarea></textarea></div>`);
    one("textarea")?.focus();
    const saved = document.createElement("article");
    saved.innerHTML = `<p>See <a href="/runs">the runs</a>.</p><button>Edit the notes</button>`;
    await change(() => one("div")?.replaceChildren(saved));
    expect(focused()).toBe("Edit the notes");
  });
  it("is on what has come in its place where that button is gone", async () => {
    show(`<h2>Notes</h2><div><button>Add notes</button></div>`);
    one("button")?.focus();
    await change(() => one("div")?.replaceChildren(document.createElement("textarea")));
    const edit = document.createElement("button");
    edit.textContent = "Edit the notes";
    await change(() => one("div")?.replaceChildren(edit));
    expect(focused()).toBe("Edit the notes");
  });
});
