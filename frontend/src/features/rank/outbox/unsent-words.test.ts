import { expect, it } from "vitest";

import { whereRejected, whyWaiting } from "./unsent-words";

it("says that what is not sent is saved in the browser", () => {
  expect(whyWaiting("offline", false)).toBe(
    "Podium cannot be reached. What is not sent is saved in this browser and will be sent automatically.",
  );
  expect(whyWaiting("signed-out", false)).toBe(
    "You are signed out. What is not sent is saved in this browser and will be sent when you have signed in again.",
  );
  expect(whereRejected(false)).toBe("It stays in this browser until you discard it.");
});

it("does not say so where the browser has no room", () => {
  expect(whyWaiting("offline", true)).toBe(
    "Podium cannot be reached. What is not sent will be sent automatically from this tab.",
  );
  expect(whyWaiting("signed-out", true)).toBe(
    "You are signed out. What is not sent will be sent from this tab when you have signed in again.",
  );
  expect(whereRejected(true)).toBe("It stays in this tab until you discard it.");
});
