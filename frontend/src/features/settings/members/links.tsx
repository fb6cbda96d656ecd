/** Links that were just made: they are shown once, and copied one by one or all together. */
import { invitationLink } from "@/api/members";
import type { Invitation } from "@/api/types";
import { CopyButton } from "@/components/text/copy-button";

const linkOf = ({ token }: Invitation) => invitationLink(token ?? "");

export function Links({ invitations }: { invitations: readonly Invitation[] }) {
  const all = invitations.map((one) => `${one.name}\t${linkOf(one)}`).join("\n");
  return (
    <>
      <p className="muted">
        Links are shown only now. Send each to its person: it works once, for whoever uses it first.
        A lost link can be renewed in Settings, on the Members tab.
      </p>
      <ul className="links">
        {invitations.map((one) => (
          <li key={one.id}>
            <b className="clip" title={one.name}>
              {one.name}
            </b>
            <input
              className="input mono"
              readOnly
              aria-label={`Link for ${one.name}`}
              value={linkOf(one)}
              onFocus={(event) => event.target.select()}
            />
            <CopyButton text={linkOf(one)} label={`Copy the link for ${one.name}`} />
          </li>
        ))}
      </ul>
      {invitations.length > 1 && (
        <div className="row">
          <CopyButton text={all} label="Copy all names and links" words="Copy all" />
        </div>
      )}
    </>
  );
}
