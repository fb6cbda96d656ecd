/** For pages that show what somebody has said: what of it is not sent yet, which is sent from here. */
import { useEndOfSession } from "../submit/use-end-of-session";
import { useFlush } from "../submit/use-flush";
import { UnsentNotes } from "./unsent";

export function OwnUnsent({ projectId, userId }: { projectId: string; userId: string }) {
  useFlush(projectId, userId);
  useEndOfSession(userId);
  return <UnsentNotes userId={userId} />;
}
