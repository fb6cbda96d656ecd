/** What a person judged or passed on who can no longer sign in: it is nowhere but here. */
import { useQuery } from "@tanstack/react-query";

import { Icon } from "@/components/icons";
import { UnsentStore } from "@/features/rank/outbox/unsent-store";
import { countOf, fileOf } from "@/features/rank/outbox/unsent-item";
import { browserDatabase } from "@/lib/database";
import { save } from "@/lib/download";

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
          {countOf(items)} of yours {items.length === 1 ? "is" : "are"} not sent.
        </b>{" "}
        This browser keeps what you judged. Download it for whoever leads the project.
      </span>
      <button type="button" className="btn" onClick={download}>
        Download
      </button>
    </div>
  );
}
