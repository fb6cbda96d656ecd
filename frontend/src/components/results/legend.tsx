/** What tables of results lack, how their cells are read, and of which code and configs they are. */
import type { Results } from "@/api/types";
import { Sentence } from "@/components/text/sentence";
import { shortHash } from "@/lib/format";

export function Legend({ results }: { results: Results }) {
  const { missing, legend, commits, configs_sha256: configs } = results;
  const code =
    commits.length === 0
      ? "The commit of the code was not recorded."
      : `${commits.length === 1 ? "Commit" : "Commits"} ${commits.map((one) => one.slice(0, 12)).join(", ")}.`;
  return (
    <>
      {missing !== "" && (
        <p className="small muted remark">
          <Sentence text={missing} />
        </p>
      )}
      <p className="small muted remark">{legend}</p>
      <p className="small muted remark">
        {code} {configs !== "" && `Configs ${shortHash(configs)}.`}
      </p>
    </>
  );
}
