/** The pages of a project by who sees them, as the rail and the palette name them. */
import type { Role } from "@/api/types";
import type { IconName } from "@/components/icons";

export interface NavPage {
  readonly path: string;
  readonly label: string;
  readonly icon: IconName;
  /** Who opens it. */
  readonly roles: readonly Role[];
  /** Whose rail shows it, where that is not everybody's who opens it. */
  readonly rail?: readonly Role[];
}

const MANAGERS: readonly Role[] = ["admin", "researcher"];
const READERS: readonly Role[] = [...MANAGERS, "viewer"];
const EVERYBODY: readonly Role[] = [...READERS, "annotator"];
const RANKERS: readonly Role[] = [...MANAGERS, "annotator"];

export const NAV_PAGES: readonly NavPage[] = [
  { path: "now", label: "Now", icon: "now", roles: READERS },
  { path: "rank", label: "Rank", icon: "rank", roles: RANKERS },
  { path: "mine", label: "Mine", icon: "note", roles: RANKERS },
  { path: "data", label: "Data", icon: "data", roles: READERS },
  { path: "runs", label: "Runs", icon: "runs", roles: READERS },
  { path: "experiments", label: "Experiments", icon: "experiments", roles: READERS },
  { path: "models", label: "Models", icon: "models", roles: READERS },
  { path: "workers", label: "Workers", icon: "workers", roles: READERS },
  {
    path: "guidelines",
    label: "Guidelines",
    icon: "guidelines",
    roles: EVERYBODY,
    // Who runs a project has them in its settings, too, beside their versions.
    rail: ["annotator", "viewer"],
  },
  { path: "settings", label: "Settings", icon: "settings", roles: MANAGERS },
];

/** What somebody with this role finds in a project; null: no member, so nothing. */
export function pagesFor(role: Role | null): readonly NavPage[] {
  return role === null ? [] : NAV_PAGES.filter(({ roles }) => roles.includes(role));
}

/** Those of them that the rail shows. */
export function railFor(role: Role | null): readonly NavPage[] {
  return pagesFor(role).filter(({ roles, rail = roles }) => role !== null && rail.includes(role));
}
