// @vitest-environment window
import { afterEach, describe, expect, it, vi } from "vitest";

import { standaloneOf } from "./standalone";

const SHAPES =
  '<g class="steps" style="color: red"><path d="M0 0L1 1"/><line x1="0" x2="1"/>' +
  '<circle class="dot" r="3" opacity="0.5"/><text class="path-label" tabindex="0"><tspan>—</tspan> a</text></g>';

/** What was asked of styles and what was written, one after the other. */
function watched(): string[] {
  const done: string[] = [];
  vi.spyOn(window, "getComputedStyle").mockImplementation((part) => {
    const getPropertyValue = (name: string) => {
      done.push("read");
      return `${name} of ${part.localName}`;
    };
    return { getPropertyValue } as unknown as CSSStyleDeclaration;
  });
  const write = Element.prototype.setAttribute;
  vi.spyOn(Element.prototype, "setAttribute").mockImplementation(function (
    this: Element,
    name,
    value,
  ) {
    done.push("written");
    write.call(this, name, value);
  });
  return done;
}

function shown(): SVGSVGElement {
  document.body.innerHTML = `<div class="reward-vs-kl"><svg>${SHAPES}</svg></div>`;
  const found = document.querySelector("svg");
  if (found === null) throw new Error("The page has no picture.");
  return found;
}

const parsed = (file: string) => new DOMParser().parseFromString(file, "image/svg+xml");

afterEach(() => vi.restoreAllMocks());

describe("a picture of the page as a file", () => {
  it("reads every style before it writes one: each change costs a new reading of all", () => {
    const picture = shown();
    const done = watched();
    standaloneOf(picture, "Reward vs KL");
    expect(done.lastIndexOf("read")).toBeGreaterThan(0);
    expect(done.lastIndexOf("read")).toBeLessThan(done.indexOf("written"));
  });
  it("gives fonts to texts and their parts alone, and to groups nothing", () => {
    const picture = shown();
    watched();
    const file = parsed(standaloneOf(picture, "Reward vs KL").text);
    const namesOf = (part: string) => file.querySelector(part)?.getAttributeNames().toSorted();
    const drawn = ["fill", "opacity", "stroke", "stroke-dasharray", "stroke-width"];
    expect(namesOf("path")).toEqual(["d", ...drawn]);
    expect(namesOf("line")).toEqual([...drawn, "x1", "x2"]);
    expect(namesOf("circle")).toEqual([...drawn.slice(0, 2), "r", ...drawn.slice(2)]);
    for (const written of ["text", "tspan"])
      expect(namesOf(written)).toEqual([
        ...["fill", "font-family", "font-size", "font-weight", "opacity", "paint-order"],
        ...["stroke", "stroke-linejoin", "stroke-width"],
      ]);
    expect(namesOf("g")).toEqual([]);
    expect(file.querySelector("text")?.getAttribute("font-size")).toBe("font-size of text");
    expect(file.querySelector("circle")?.getAttribute("fill")).toBe("fill of circle");
  });
  it("has lines of text below it, and is as much higher", () => {
    const line = { sign: "○", colour: "rgb(0, 114, 178)", text: "GRPO & <PPO>" };
    const { text, height } = standaloneOf(shown(), "Reward vs KL", [line, line]);
    const file = parsed(text);
    expect([...file.querySelectorAll("text")].slice(1).map((one) => one.textContent)).toEqual([
      "○ GRPO & <PPO>",
      "○ GRPO & <PPO>",
    ]);
    const sign = file.querySelector("svg > text > tspan");
    expect(sign?.getAttribute("fill")).toBe("rgb(0, 114, 178)");
    expect(height).toBeGreaterThan(2 * 12);
    expect(file.documentElement.getAttribute("height")).toBe(String(height));
    expect(file.querySelector("rect")?.getAttribute("height")).toBe(String(height));
  });
  it("has a title, and leaves the page as it was", () => {
    const picture = shown();
    const before = document.body.innerHTML;
    const file = parsed(standaloneOf(picture, "GRPO & <PPO>: Reward vs KL").text);
    expect(file.querySelector("title")?.textContent).toBe("GRPO & <PPO>: Reward vs KL");
    expect(file.documentElement.firstElementChild?.localName).toBe("title");
    expect(document.body.innerHTML).toBe(before);
  });
});
