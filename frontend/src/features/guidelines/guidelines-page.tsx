/** What annotators go by: the newest version of the project's guidelines. */
import { useQuery } from "@tanstack/react-query";

import { guidelinesQuery } from "@/api/guidelines";
import { Acknowledge, GuidelinesText, GuidelinesVersion } from "@/components/guidelines";
import { Loaded } from "@/components/states";
import { useMayRank } from "@/components/use-may";
import { useProjectId } from "@/lib/address/use-project";
import { PageTitle } from "@/components/page-title";

export function GuidelinesPage() {
  const projectId = useProjectId();
  const guidelines = useQuery(guidelinesQuery(projectId));
  const mayRank = useMayRank(projectId);
  return (
    <div className="page narrow">
      <div className="page-head">
        <PageTitle>Guidelines</PageTitle>
        <h1>Guidelines</h1>
      </div>
      <section className="card padded stack">
        <Loaded query={guidelines}>
          {(found) => (
            <>
              <GuidelinesText text={found.guidelines} />
              <GuidelinesVersion guidelines={found} />
              {mayRank && !found.is_acknowledged && (
                <div className="row">
                  <Acknowledge projectId={projectId} version={found.version} />
                </div>
              )}
            </>
          )}
        </Loaded>
      </section>
    </div>
  );
}
