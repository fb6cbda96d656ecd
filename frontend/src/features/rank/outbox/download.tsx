/** What is not sent, as a file for whoever can send it by hand. */
import { save } from "@/lib/files/download";

import { fileOf, type Unsent } from "./unsent-item";

export function Download({ items }: { items: readonly Unsent[] }) {
  const download = () =>
    save(new Blob([fileOf(items)], { type: "application/json" }), "podium-unsent-judgments.json");
  return (
    <button type="button" className="btn ghost" onClick={download}>
      Download
    </button>
  );
}
