/** One's own API keys. */
import type { User } from "@/api/types";

import { KeyList } from "./key-list";

export function KeysTab({ user }: { user: User }) {
  return (
    <section className="card padded stack" aria-label="Your keys">
      <div>
        <h2>Your keys</h2>
        <p className="muted">
          Programs send a key as <code>Authorization: Bearer KEY</code>. A key is shown once, when
          it is made.
        </p>
      </div>
      <KeyList userId={user.id} isOwn />
    </section>
  );
}
