/** The guidelines as they were: who wrote which version when, and how many have read it. */
import { useQuery } from "@tanstack/react-query";

import { guidelineVersionsQuery } from "@/api/guidelines";
import type { GuidelineVersion } from "@/api/types";
import { GuidelinesText } from "@/components/guidelines";
import { Icon } from "@/components/icons";
import { Empty, Loaded } from "@/components/states";
import { Ago } from "@/components/text/clock";
import { plural } from "@/lib/format";

export function VersionList({ projectId }: { projectId: string }) {
  const versions = useQuery(guidelineVersionsQuery(projectId));
  return (
    <section className="card" aria-label="Versions of the guidelines">
      <h2 className="card-title">Versions of the guidelines</h2>
      <Loaded query={versions}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="guidelines" title="No guidelines yet">
              The guidelines that you save here become version 1.
            </Empty>
          ) : (
            <ul className="versions">
              {items.map((one) => (
                <Version key={one.version} version={one} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

function Version({ version }: { version: GuidelineVersion }) {
  const { acknowledgements: readers, user_name: author } = version;
  return (
    <li>
      <details>
        <summary>
          <Icon name="right" />
          <b>Version {version.version}</b>
          <span className="small muted">
            {author === null ? "" : `${author}, `}
            <Ago at={version.created_at} />
          </span>
          <span className="grow" />
          <span className="small muted">
            {readers === 0
              ? "acknowledged by nobody"
              : `acknowledged by ${plural(readers, "person", "people")}`}
          </span>
        </summary>
        <div className="version-text">
          <GuidelinesText text={version.guidelines} />
        </div>
      </details>
    </li>
  );
}
