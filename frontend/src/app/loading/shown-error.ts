/** What a page that broke, or whose code did not come, says of itself. Pure. */
import { Problem } from "@/api/client";

/** In the words of Chromium, Firefox, Safari and of what loads a page's styles. */
const UNLOADED = /dynamically imported module|Importing a module script failed|preload CSS/i;

const NOT_LOADED = new Problem(0, {
  title: "This page could not be loaded",
  detail: "Podium did not answer, or it was updated since you opened it.",
  advice: "Try again when you are online.",
});

/** The code of a page comes when it is first opened; without a network it does not. */
export const shownError = (error: unknown): unknown =>
  error instanceof Error && UNLOADED.test(error.message) ? NOT_LOADED : error;
