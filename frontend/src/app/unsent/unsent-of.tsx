/** What a person judged or passed on who can no longer sign in: it is nowhere but here. */
import { useQuery } from "@tanstack/react-query";

import { Icon } from "@/components/icons";
import { UnsentStore } from "@/features/rank/outbox/unsent-store";
import { Download } from "@/features/rank/outbox/download";
import { countOf } from "@/features/rank/outbox/unsent-item";
import { browserDatabase } from "@/lib/database";

export function UnsentOf({ userId }: { userId: string }) {
  const unsent = useQuery({
    queryKey: ["unsent", userId],
    queryFn: () => new UnsentStore(localStorage, browserDatabase).of(userId),
    gcTime: 0,
  });
  const items = unsent.data ?? [];
  if (items.length === 0) return null;
  return (
    <div className="note warn" role="status">
      <Icon name="alert" />
      <span className="grow">
        <b>
          {countOf(items)} of yours {items.length === 1 ? "is" : "are"} not sent.
        </b>{" "}
        This browser keeps {items.length === 1 ? "it" : "them"}. Download{" "}
        {items.length === 1 ? "it" : "them"} for whoever leads the project.
      </span>
      <Download items={items} />
    </div>
  );
}
