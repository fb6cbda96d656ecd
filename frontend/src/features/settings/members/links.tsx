/** Links that were just made: they are shown once, and copied one by one or all together. */
import { useState } from "react";

import { invitationLink } from "@/api/members";
import type { Invitation } from "@/api/types";
import { CopyButton } from "@/components/text/copy-button";

import { ShownOnce } from "./shown-once";

/** Also what tells links apart: one that was renewed has not been copied. */
const linkOf = ({ token }: Invitation) => invitationLink(token ?? "");

interface LinksProps {
  readonly title: string;
  readonly invitations: readonly Invitation[];
  readonly onClose: () => void;
}

export function LinksDialog({ title, invitations, onClose }: LinksProps) {
  const [copied, setCopied] = useState<ReadonlySet<string>>(new Set());
  const left = invitations.filter((one) => !copied.has(linkOf(one))).length;
  const links = left === 1 ? "the link" : `the ${left} links`;
  return (
    <ShownOnce
      title={title}
      className="wide-links"
      first={
        copied.size === 0
          ? `Copy ${links} first, or choose Done: links are shown only now.`
          : `Copy ${links} that you have not copied, or choose Done.`
      }
      isCopied={left === 0}
      onClose={onClose}
    >
      <Links
        invitations={invitations}
        onCopied={(those) => setCopied((now) => new Set([...now, ...those.map(linkOf)]))}
      />
    </ShownOnce>
  );
}

function Links(props: {
  invitations: readonly Invitation[];
  onCopied: (those: readonly Invitation[]) => void;
}) {
  const { invitations, onCopied } = props;
  const all = invitations.map((one) => `${one.name}\t${linkOf(one)}`).join("\n");
  return (
    <>
      <p className="muted">
        Links are shown only now. Send each to its person: it works once, for whoever uses it first.
        A lost link can be renewed under Open invitations, on the Members tab of Settings.
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
              onCopy={() => onCopied([one])}
            />
            <CopyButton
              text={linkOf(one)}
              label={`Copy the link for ${one.name}`}
              onCopied={() => onCopied([one])}
            />
          </li>
        ))}
      </ul>
      {invitations.length > 1 && (
        <div className="row">
          <CopyButton
            text={all}
            label="Copy all names and links"
            words="Copy all"
            onCopied={() => onCopied(invitations)}
          />
        </div>
      )}
    </>
  );
}
