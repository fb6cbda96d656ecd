import { expect, it } from "vitest";

import { aboutOf } from "./unsent-item";
import { whatAndWhen, whereRejected, whyWaiting } from "./unsent-words";

it("says that what is not sent is saved in the browser", () => {
  expect(whyWaiting("offline", false)).toBe(
    "Podium cannot be reached. Unsent judgments and skips are saved in this browser and will be sent automatically.",
  );
  expect(whyWaiting("signed-out", false)).toBe(
    "You are signed out. Unsent judgments and skips are saved in this browser and will be sent when you have signed in again.",
  );
  expect(whereRejected(false)).toBe("It stays in this browser until you discard it.");
});

it("does not say so where the browser has no room", () => {
  expect(whyWaiting("offline", true)).toBe(
    "Podium cannot be reached. Unsent judgments and skips will be sent automatically from this tab.",
  );
  expect(whyWaiting("signed-out", true)).toBe(
    "You are signed out. Unsent judgments and skips will be sent from this tab when you have signed in again.",
  );
  expect(whereRejected(true)).toBe("It stays in this tab until you discard it.");
});

it("says which comparison was rejected, by the last turn of its prompt", () => {
  const asked = (content: string) =>
    aboutOf({
      comparison: {
        prompt: {
          messages: [
            { role: "system", content: "Be brief." },
            { role: "user", content },
          ],
        },
      },
    } as Parameters<typeof aboutOf>[0]);
  expect(asked("Why is\n  the sky blue?")).toBe("Why is the sky blue?");
  const long = asked("😀".repeat(61));
  expect([...long].length).toBe(60);
  expect(long.endsWith("😀…")).toBe(true);
  const submittedAt = new Date(2026, 10, 26, 14, 49).getTime();
  expect(whatAndWhen({ about: "Why?", submittedAt })).toMatch(
    /^It is from .*2026.*, about “Why\?”\.$/,
  );
  expect(whatAndWhen({ submittedAt })).toMatch(/^It is from .*2026[^“]*\.$/);
});
