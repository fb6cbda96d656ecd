/** For the frame around pages that rank nothing: what is not sent yet, which is sent from here. */
import { useEndOfSession } from "../submit/use-end-of-session";
import { useFlush } from "../submit/use-flush";
import { Notes } from "./unsent";

export function OwnUnsent({ userId }: { userId: string }) {
  useFlush(userId);
  useEndOfSession(userId);
  return <Notes userId={userId} />;
}
