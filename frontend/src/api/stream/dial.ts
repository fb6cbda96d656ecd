/** Which hub a tab dials: the one that all tabs of its browser share, or one of its own. */
import { PING_MS } from "./messages";
import { MOST_SILENT, type Dial } from "./tab";

/**
 * Mute lines to the shared hub in a row before a tab has a hub of its own: one may be slow to start
 * on a busy machine, and one that hangs never comes back.
 */
export const MOST_MUTE = 3;
/** A line that is given up sooner, as when somebody leaves the page, tells nothing of the hub. */
const ANSWERS_WITHIN_MS = MOST_SILENT * PING_MS;

/** Dials the shared hub while it answers; null: the browser has none. */
export function dialOf(shared: Dial | null, own: Dial): Dial {
  let mute = 0;
  return (hear, onDead) => {
    if (shared === null || mute >= MOST_MUTE) return own(hear, onDead);
    const [before, began] = [mute, Date.now()];
    let isDead = false;
    mute += 1;
    const line = shared(
      (message) => {
        mute = 0;
        hear(message);
      },
      () => {
        isDead = true;
        onDead();
      },
    );
    const close = () => {
      if (!isDead && Date.now() - began < ANSWERS_WITHIN_MS) mute = Math.min(mute, before);
      line.close();
    };
    return { send: line.send, close };
  };
}
