// @vitest-environment window
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { LONGEST_LINE } from "./cut";
import { AsWritten, Compared, RawText } from "./long-text";
import { LONGEST_PHRASE } from "./pieces";

declare global {
  var IS_REACT_ACT_ENVIRONMENT: boolean;
}

let place: HTMLDivElement;
let root: Root;

beforeAll(() => {
  globalThis.IS_REACT_ACT_ENVIRONMENT = true;
  place = document.createElement("div");
  document.body.append(place);
  root = createRoot(place);
});

afterAll(() => act(() => root.unmount()));

function shown(text: string): HTMLElement {
  act(() => root.render(<AsWritten text={text} />));
  return place;
}

const CHINESE = "这是一句很长的话，没有空格。";
/** A megabyte and more each. */
const LONG: Record<string, string> = {
  "Chinese in one line": CHINESE.repeat(30_000),
  "Chinese in paragraphs": `${CHINESE.repeat(20)}\n`.repeat(1500),
  Japanese: `${"これは長い文章です。".repeat(40)}\n\n`.repeat(1000),
  Arabic: "هذه جملة طويلة جدا ".repeat(40_000),
  Devanagari: `${"यह एक बहुत लंबा वाक्य है। ".repeat(30)}\n`.repeat(700),
  emoji: "👩\u200d💻👍🏽🙂❤\ufe0f".repeat(40_000),
  Latin: "A rather long sentence. ".repeat(50_000),
  code: "    return x\n\n".repeat(80_000),
  "all of them": `${CHINESE}\nهذه जملة यह 🙂 word `.repeat(20_000),
};

describe("every character stands there, in order", () => {
  it.each(Object.keys(LONG))("%s", (kind) => {
    const text = LONG[kind] ?? "";
    expect(new Blob([text]).size).toBeGreaterThan(1_000_000);
    expect(shown(text).textContent === text).toBe(true);
    const pieces = [...place.querySelectorAll(".piece")].map((one) => one.textContent.length);
    expect(pieces.length).toBeGreaterThan(50);
    expect(Math.max(...pieces)).toBeLessThanOrEqual(LONGEST_LINE);
  });
});

it("shows a short text as it is", () => {
  expect(shown("one\ntwo").innerHTML).toBe('<p class="plain" dir="auto">one\ntwo</p>');
  act(() => root.render(<RawText text={"one\ntwo"} />));
  expect(place.innerHTML).toBe('<pre class="raw" dir="auto">one\ntwo</pre>');
});

it("marks what cannot be seen in its place, also in the middle of a long line", () => {
  const text = "漢字\u200b".repeat(5000);
  const marks = shown(text).querySelectorAll(".hidden-character");
  expect(marks).toHaveLength(2000);
  const read = place.textContent.replaceAll(/ZWSP|⟦ZWSP⟧/g, "\u200b").replaceAll(/[⟦⟧]/g, "");
  expect(read === text).toBe(true);
});

it("says of a line only that it goes on, and keeps its direction", () => {
  const line = `שלום ${"word ".repeat(3000)}\n`;
  const text = `${"short\n".repeat(1000)}${line}end`;
  const [cut, ...others] = shown(text).querySelectorAll(".cut-line");
  expect(others).toEqual([]);
  expect(cut?.getAttribute("dir")).toBe("auto");
  expect(cut?.textContent).toBe(line);
});

it("puts the end of a piece before the next one of its line, where only the browser's search reads", () => {
  const text = `${"short\n".repeat(1000)}${Array.from({ length: 3000 }, (_, n) => n).join(" ")}`;
  shown(text);
  const [first, second] = place.querySelectorAll(".cut-line > .piece");
  const again = second?.shadowRoot?.firstElementChild;
  expect(again?.textContent).toHaveLength(LONGEST_PHRASE);
  expect(first?.textContent.endsWith(again?.textContent ?? "?")).toBe(true);
  expect(again?.nextElementSibling?.localName).toBe("slot");
  expect(place.textContent).toBe(text);
  const others = place.querySelectorAll(".pieces > .piece, .cut-line > .piece:first-child");
  expect([...others].filter(({ shadowRoot }) => shadowRoot !== null)).toEqual([]);

  // Another text in its place.
  shown(`${"short\n".repeat(9000)}`);
  const left = [...place.querySelectorAll(".piece")].map(
    (one) => one.shadowRoot?.textContent ?? "",
  );
  expect(left.join("")).toBe("");
});

describe("a text with marks", () => {
  const kinds = [undefined, "mark", "ins", "del"] as const;

  it("shows a short one as it is", () => {
    const stretches = [{ text: "a " }, { text: "b\u200b", tag: "mark" as const }, { text: " c" }];
    act(() => root.render(<Compared stretches={stretches} />));
    expect(place.querySelector("p.plain > mark")?.textContent).toBe("bZWSP");
    expect(place.textContent).toBe("a bZWSP c");
  });

  it("is whole, in pieces, and each mark is where it was", () => {
    const stretches = Array.from({ length: 3000 }, (_, n) => ({
      text: `${n} ${"word ".repeat(n % 40)}${n % 7 === 0 ? "\n" : ""}`,
      tag: kinds[n % kinds.length],
    }));
    act(() => root.render(<Compared stretches={stretches} className="plain x" />));
    expect(place.querySelector("p.plain.x")?.textContent).toBe(
      stretches.map(({ text }) => text).join(""),
    );
    const pieces = [...place.querySelectorAll(".piece")].map((one) => one.textContent.length);
    expect(pieces.length).toBeGreaterThan(50);
    expect(Math.max(...pieces)).toBeLessThanOrEqual(LONGEST_LINE);
    for (const tag of kinds)
      if (tag !== undefined)
        expect([...place.querySelectorAll(tag)].map((one) => one.textContent).join("")).toBe(
          stretches.flatMap((one) => (one.tag === tag ? [one.text] : [])).join(""),
        );
  });
});

describe("what is copied", () => {
  function copied(select: (range: Range) => void): { text: string; isOurs: boolean } {
    const range = document.createRange();
    select(range);
    const selection = getSelection();
    selection?.removeAllRanges();
    selection?.addRange(range);
    let text = "";
    const event = new Event("copy", { bubbles: true, cancelable: true });
    Object.assign(event, {
      clipboardData: { setData: (_: string, data: string) => (text = data) },
    });
    const start = range.startContainer;
    (start instanceof Element ? start : start.parentElement)?.dispatchEvent(event);
    return { text, isOurs: event.defaultPrevented };
  }

  it("is what was written, whatever it was cut into", () => {
    const text = LONG["Chinese in one line"] ?? "";
    const [first, , third] = shown(text).querySelectorAll(".piece");
    const found = copied((range) => {
      range.setStart(first?.firstChild ?? place, 10);
      range.setEnd(third?.firstChild ?? place, 5);
    });
    const upTo = (first?.textContent ?? "").length * 2 + 100;
    expect(found.isOurs).toBe(true);
    expect(found.text.length).toBeGreaterThan(LONGEST_LINE);
    expect(text.slice(10, upTo).startsWith(found.text.slice(0, LONGEST_LINE))).toBe(true);
    expect(text.includes(found.text)).toBe(true);
  });

  it("is the browser's affair where more than the text is chosen", () => {
    shown(LONG["code"] ?? "");
    expect(copied((range) => range.selectNode(place)).isOurs).toBe(false);
  });
});
