/** The guidelines as an annotator reads them, and the button that says that they were read. */
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { showAnswer } from "@/api/cache/show-answer";
import { acknowledgeGuidelines, guidelinesQuery } from "@/api/guidelines";
import type { Guidelines } from "@/api/types";

import { Icon } from "./icons";
import { PendingButton } from "./form/pending-button";
import { Refused } from "./refused";
import { Ago } from "./text/clock";
import { Markdown } from "./text/markdown";

export function GuidelinesText({ text }: { text: string }) {
  if (text.trim() === "")
    return (
      <p className="muted">
        This project has no guidelines. Prefer what helps the person who asked: correct, complete,
        clear, and no longer than needed.
      </p>
    );
  return <Markdown text={text} />;
}

/** Which version it is, and when the reader acknowledged which. */
export function GuidelinesVersion({ guidelines }: { guidelines: Guidelines }) {
  const { version, created_at: at, acknowledged } = guidelines;
  if (version === 0) return null;
  return (
    <span className="small muted">
      Version {version}
      {at !== null && (
        <>
          , written <Ago at={at} />
        </>
      )}
      {acknowledged !== null && (
        <>
          . You acknowledged version {acknowledged.version},{" "}
          <Ago at={acknowledged.acknowledged_at} />
        </>
      )}
      .
    </span>
  );
}

export function Acknowledge({ projectId, version }: { projectId: string; version: number }) {
  const client = useQueryClient();
  const asked = useMutation({
    mutationFn: (read: number) => acknowledgeGuidelines(projectId, read),
    onSuccess: (answer) => showAnswer(client, guidelinesQuery(projectId), answer),
    // Refused if they were changed meanwhile: then the newest have to be on screen.
    onError: () => client.invalidateQueries(guidelinesQuery(projectId)),
  });
  return (
    <>
      <Refused asked={asked} />
      <PendingButton
        className="btn primary"
        isPending={asked.isPending}
        onPress={() => asked.mutate(version)}
      >
        <Icon name="check" /> I have read version {version}
      </PendingButton>
    </>
  );
}
