/** Links as sentences name them, by whose they are. */
import type { Invitation } from "@/api/types";
import { plural } from "@/lib/format";

export const whoseLinks = ([first, ...others]: readonly Invitation[]): string =>
  first !== undefined && others.length === 0
    ? `the link of ${first.name}`
    : `the links of ${plural(others.length + 1, "person", "people")}`;

/** Said instead of showing links whose page has gone. */
export function lostLinks(invitations: readonly Invitation[], done: "made" | "renewed"): string {
  const [were, them] = invitations.length === 1 ? ["was", "it"] : ["were", "them"];
  const again = done === "renewed" ? " again" : "";
  return (
    `${whoseLinks(invitations).replace(/^t/, "T")} ${were} ${done}, but you left the page that ` +
    `shows ${them}: renew ${them}${again} under Open invitations, on the Members tab of Settings.`
  );
}
