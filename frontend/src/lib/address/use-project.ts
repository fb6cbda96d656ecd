/** Which project this page is about: the one in its address. */
import { useParams } from "react-router";

export function useProjectId(): string {
  const { projectId } = useParams();
  if (projectId === undefined) throw new Error("this page stands outside a project");
  return projectId;
}
