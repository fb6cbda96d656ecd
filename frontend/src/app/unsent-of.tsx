/** Judgments of a person who can no longer sign in: they are nowhere but here, to be downloaded. */
import { useQuery } from "@tanstack/react-query";

import { Icon } from "@/components/icons";
import { UnsentStore } from "@/features/rank/outbox/unsent-store";
import { fileOf } from "@/features/rank/outbox/unsent-judgment";
import { browserDatabase } from "@/lib/database";
import { save } from "@/lib/download";
import { plural } from "@/lib/format";

export function UnsentOf({ userId }: { userId: string }) {
  const unsent = useQuery({
    queryKey: ["unsent", userId],
    queryFn: () => new UnsentStore(localStorage, browserDatabase).of(userId),
    gcTime: 0,
  });
  const items = unsent.data ?? [];
  if (items.length === 0) return null;
  const download = () =>
    save(new Blob([fileOf(items)], { type: "application/json" }), "podium-unsent-judgments.json");
  return (
    <div className="note warn" role="status">
      <Icon name="alert" />
      <span className="grow">
        <b>
          {items.length === 1
            ? "A judgment of yours is not sent."
            : `${plural(items.length, "judgment")} of yours are not sent.`}
        </b>{" "}
        This browser keeps what you judged. Download it for whoever leads the project.
      </span>
      <button type="button" className="btn" onClick={download}>
        Download
      </button>
    </div>
  );
}
