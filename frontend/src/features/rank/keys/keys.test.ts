import { describe, expect, it } from "vitest";

import { ACTIONS, changesOf, DEFAULT_KEYS, keymapOf, whyNot, type Keymap } from "./keymap";
import { commandOf, type Key } from "./keys";
import { labelOfKey, nameOfKey } from "./press";
import { completed, letterOf, move, start, type Ranking } from "../ranking/ranking";

type Stroke = readonly [key: string, code: string, shift?: "shift"];

const press = ([key, code, shift]: Stroke, more: Partial<Key> = {}): Key => ({
  key,
  code,
  shiftKey: shift !== undefined,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...more,
});

/**
 * What four keyboards send for B, A, "=", D, C, the digit 1, Z and "?": (key, code) as
 * https://www.w3.org/TR/uievents-code/ and the layouts of Windows have them.
 */
const LAYOUTS: Readonly<Record<string, readonly Stroke[]>> = {
  QWERTY: [
    ["b", "KeyB"],
    ["a", "KeyA"],
    ["=", "Equal"],
    ["d", "KeyD"],
    ["c", "KeyC"],
    ["1", "Digit1"],
    ["z", "KeyZ"],
    ["?", "Slash", "shift"],
  ],
  AZERTY: [
    ["b", "KeyB"],
    ["a", "KeyQ"],
    ["=", "Equal"],
    ["d", "KeyD"],
    ["c", "KeyC"],
    ["&", "Digit1"],
    ["z", "KeyW"],
    ["?", "KeyM", "shift"],
  ],
  QWERTZ: [
    ["b", "KeyB"],
    ["a", "KeyA"],
    ["=", "Digit0", "shift"],
    ["d", "KeyD"],
    ["c", "KeyC"],
    ["1", "Digit1"],
    ["z", "KeyY"],
    ["?", "Minus", "shift"],
  ],
  Cyrillic: [
    ["и", "KeyB"],
    ["ф", "KeyA"],
    ["=", "Equal"],
    ["в", "KeyD"],
    ["с", "KeyC"],
    ["1", "Digit1"],
    ["я", "KeyZ"],
    [",", "Slash", "shift"],
  ],
  Arabic: [
    ["لا", "KeyB"],
    ["ش", "KeyA"],
    ["=", "Equal"],
    ["ي", "KeyD"],
    ["ؤ", "KeyC"],
    ["١", "Digit1"],
    ["ئ", "KeyZ"],
    ["؟", "Slash", "shift"],
  ],
};

const shown = (ranking: Ranking): string =>
  completed(ranking)
    .tiers.map((tier) => tier.map(letterOf).join("="))
    .join(">");

function typed(count: number, strokes: readonly Stroke[], keymap?: Keymap): Ranking {
  return strokes.reduce((ranking, stroke) => {
    const command = commandOf(press(stroke), ranking, [], keymap);
    return command?.kind === "move" ? move(ranking, command.move) : ranking;
  }, start(count));
}

describe.each(Object.entries(LAYOUTS))("on a %s keyboard", (name, strokes) => {
  const ranking = () => typed(4, strokes.slice(0, 5));

  it("B A = D C ranks four responses", () => {
    expect(shown(ranking())).toBe("B>A=D>C");
  });
  it("the key of the digit 1 moves the last one to the first rank", () => {
    expect(shown(typed(4, strokes.slice(0, 6)))).toBe("B=C>A=D");
  });
  it("the number pad does the same", () => {
    const ranked = move(ranking(), { kind: "digit", rank: 1 });
    expect(shown(typed(4, [...strokes.slice(0, 5), ["1", "Numpad1"]]))).toBe(shown(ranked));
  });
  it("the key Z undoes, alone and with Ctrl", () => {
    const [, , , , , , z = ["", ""]] = strokes;
    expect(commandOf(press(z), ranking(), [])).toEqual({ kind: "undo" });
    expect(commandOf(press(z, { ctrlKey: true }), ranking(), [])).toEqual({ kind: "undo" });
  });
  it("Enter submits, and Shift with a letter flags", () => {
    expect(commandOf(press(["Enter", "Enter"]), ranking(), [])).toEqual({ kind: "submit" });
    const [key, code] = strokes[0] ?? ["", ""];
    expect(commandOf(press([key.toUpperCase(), code, "shift"]), ranking(), [])).toEqual({
      kind: "move",
      move: { kind: "flag", card: 1 },
    });
  });
  it("a question mark shows the shortcuts", () => {
    // Russian has it on Shift 7.
    const stroke: Stroke =
      name === "Cyrillic" ? ["?", "Digit7", "shift"] : (strokes[7] ?? ["", ""]);
    expect(commandOf(press(stroke), ranking(), [])).toEqual({ kind: "help" });
  });
});

describe("keys of every layout", () => {
  it("are told by what they type where that is a letter", () => {
    // AZERTY: the key beside Tab types A, where QWERTY has Q.
    expect(shown(typed(2, [["a", "KeyQ"]]))).toBe("A>B");
    expect(commandOf(press(["q", "KeyA"]), start(4), [])).toBeNull();
  });
  it("without Num Lock are arrows and no digits", () => {
    expect(commandOf(press(["ArrowUp", "Numpad8"]), start(4), [])).toEqual({
      kind: "move",
      move: { kind: "shift", by: -1 },
    });
    expect(commandOf(press(["End", "Numpad1"]), start(4), [])).toBeNull();
  });
  it("with Caps Lock are the same letters", () => {
    expect(shown(typed(4, [["B", "KeyB"], ["A", "KeyA"]]))).toBe("B>A"); // prettier-ignore
  });
  it("say what they are where a browser hides what is typed", () => {
    expect(shown(typed(4, [["Process", "KeyC"], ["Dead", "KeyA"], ["ｂ", "KeyB"]]))).toBe("C>A>B"); // prettier-ignore
  });
  it("with AltGr type what is typed, and no letter by its place", () => {
    expect(commandOf(press(["ą", "KeyA"], { isAltGraph: true }), start(4), [])).toBeNull();
    expect(commandOf(press(["=", "KeyR"], { isAltGraph: true }), start(4), [])?.kind).toBe("move");
  });
});

describe("a keymap of one's own", () => {
  const mine = keymapOf({ undo: "u", all_bad: "0x", skip: 7, note: "n" });

  it("moves an action to another key and frees the old one", () => {
    expect(commandOf(press(["u", "KeyU"]), start(4), [], mine)).toEqual({ kind: "undo" });
    expect(commandOf(press(["z", "KeyZ"]), start(4), [], mine)).toBeNull();
    expect(commandOf(press(["г", "KeyU"]), start(4), [], mine)).toEqual({ kind: "undo" });
  });
  it("keeps undo on Ctrl Z whatever happens", () => {
    expect(commandOf(press(["z", "KeyZ"], { ctrlKey: true }), start(4), [], mine)?.kind).toBe(
      "undo",
    );
  });
  it("ignores what it cannot read", () => {
    expect(mine.skip).toBe("s");
    expect(keymapOf({ undo: "a" })).toEqual(DEFAULT_KEYS);
    expect(keymapOf({ undo: "x" })).toEqual(DEFAULT_KEYS);
  });
  it("can exchange two keys", () => {
    const exchanged = keymapOf({ undo: "x", all_bad: "z" });
    expect([exchanged.undo, exchanged.all_bad]).toEqual(["x", "z"]);
    expect(keymapOf(changesOf(exchanged))).toEqual(exchanged);
  });
  it("takes no key of a response, no digit, none of the browser and none that is taken", () => {
    expect(whyNot(DEFAULT_KEYS, "undo", "c")).toMatch(/C is the letter of a response/);
    expect(whyNot(DEFAULT_KEYS, "undo", "3")).toMatch(/3 moves the selected response/);
    expect(whyNot(DEFAULT_KEYS, "undo", "tab")).toMatch(/Tab belongs to the browser/);
    expect(whyNot(DEFAULT_KEYS, "undo", "s")).toBe(
      "S is taken: skip, with a reason. Give that another key first.",
    );
    expect(whyNot(DEFAULT_KEYS, "undo", "z")).toBeNull();
    expect(whyNot(DEFAULT_KEYS, "undo", "u")).toBeNull();
  });
  it("has one key for each action and none of a response, whatever was kept", () => {
    let seed = 11;
    const random = (n: number) => (seed = (seed * 16807) % 2147483647) % n;
    const names = [..."abcjkxzsn=?19", "enter", "tab", "arrowup", "", "backspace"];
    for (let round = 0; round < 500; round += 1) {
      const drawn = ACTIONS.filter(() => random(3) === 0);
      const kept = Object.fromEntries(drawn.map((one) => [one, names[random(names.length)]]));
      const keys = Object.values(keymapOf(kept));
      expect(new Set(keys).size, JSON.stringify(kept)).toBe(ACTIONS.length);
      expect(keys.some((key) => /^[a-i0-9]$/.test(key) || key === "tab" || key === "")).toBe(false);
    }
  });
  it("names a key as it is found on any layout", () => {
    const names = (strokes: readonly Stroke[]) => strokes.map((stroke) => nameOfKey(press(stroke)));
    expect(
      names(LAYOUTS["Cyrillic"] ?? [])
        .slice(0, 7)
        .join(""),
    ).toBe("ba=dc1z");
    expect(names(LAYOUTS["AZERTY"] ?? []).join("")).toBe("ba=dc1z?");
    expect(names(LAYOUTS["QWERTZ"] ?? []).join("")).toBe("ba=dc1z?");
    expect(["z", "=", "enter", "arrowup", "pageup"].map(labelOfKey)).toEqual([
      "Z",
      "=",
      "Enter",
      "↑",
      "PageUp",
    ]);
  });
});
