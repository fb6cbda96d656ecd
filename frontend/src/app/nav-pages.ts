/** The pages of a project, as the rail and the palette name them: address, label, icon. */
import type { IconName } from "@/components/icons";

export const NAV_PAGES: readonly (readonly [string, string, IconName])[] = [
  ["now", "Now", "now"],
  ["rank", "Rank", "rank"],
  ["data", "Data", "data"],
  ["runs", "Runs", "runs"],
  ["models", "Models", "models"],
  ["workers", "Workers", "workers"],
];
