/** That files are gone for good, and what that leaves. */
import type { ReactNode } from "react";

import { Icon } from "./icons";
import { Ago } from "./text/clock";

export function Pruned({ at, children }: { at: string; children: ReactNode }) {
  return (
    <div className="note" role="note">
      <Icon name="file" />
      <div className="grow">
        <b>
          Its files were deleted <Ago at={at} />.
        </b>{" "}
        {children}
      </div>
    </div>
  );
}
