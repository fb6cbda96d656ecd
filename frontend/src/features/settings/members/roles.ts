/** The roles in a project, and what a person with each does there. */
import type { ProjectRole, Role } from "@/api/types";

export const PROJECT_ROLES: readonly ProjectRole[] = ["annotator", "researcher", "viewer"];

export const WHAT_ROLES_DO: Readonly<Record<Role, string>> = {
  annotator:
    "Ranks comparisons; sees the guidelines, but no models, no runs and no judgments of others.",
  researcher: "Runs the project: people, data, models and runs; ranks, too.",
  viewer:
    "Sees the project's data, runs and models, but not who judged what, nor its settings; changes and ranks nothing.",
  admin: "Administers the whole service: all projects, all people, all keys.",
};
