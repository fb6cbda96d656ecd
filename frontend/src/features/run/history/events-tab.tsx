/** What happened to a run, newest first. */
import { useQuery } from "@tanstack/react-query";

import { eventsQuery } from "@/api/runs";
import type { Run, RunEvent } from "@/api/types";
import { Loaded } from "@/components/states";
import { Ago } from "@/components/text/clock";
import { Sentence } from "@/components/text/sentence";
import { plural } from "@/lib/format";

import { Tree } from "../tree";
import { eventText } from "./event-text";

function Line({ event, project }: { event: RunEvent; project: string }) {
  const { tone, text, details } = eventText(event);
  return (
    <li className={tone}>
      <Ago at={event.created_at} />
      <div>
        <Sentence text={text} />
        {details !== null && (
          <details>
            <summary className="small">
              {event.type === "start" ? "Environment" : "Details"}
            </summary>
            <Tree value={details} project={project} />
          </details>
        )}
      </div>
    </li>
  );
}

export function EventsTab({ run }: { run: Run }) {
  const query = useQuery(eventsQuery(run.id));
  return (
    <Loaded query={query}>
      {(events) => (
        <section className="card">
          <h2 className="card-title">{plural(events.length, "event")}</h2>
          <ol className="events">
            {events.toReversed().map((event) => (
              <Line key={event.seq} event={event} project={run.project_id} />
            ))}
          </ol>
        </section>
      )}
    </Loaded>
  );
}
