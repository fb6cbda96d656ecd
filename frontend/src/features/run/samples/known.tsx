/** Whether a response is correct and why not, and what is known of its prompt. */
import type { Sample } from "@/api/types";
import { PlainText } from "@/components/text/plain-text";

/** `Passed` or `Not passed` with the reasons of the reward terms; nothing where none judges. */
export function Passed({ sample }: { sample: Pick<Sample, "passed" | "why"> }) {
  const reasons = Object.entries(sample.why ?? {});
  if (sample.passed == null && reasons.length === 0) return null;
  return (
    <p className="small">
      {sample.passed != null && (
        <span className="tag">{sample.passed ? "passed" : "not passed"}</span>
      )}{" "}
      {reasons.map(([term, why]) => (
        <span key={term} className="faint">
          {term}: <PlainText text={why} />{" "}
        </span>
      ))}
    </p>
  );
}

/** The ground truth, tags and metadata of the prompt, as far as there are any. */
export function Known({ sample }: { sample: Pick<Sample, "reference" | "tags" | "metadata"> }) {
  const metadata = Object.entries(sample.metadata ?? {});
  const tags = sample.tags ?? [];
  return (
    <>
      {sample.reference != null && (
        <p className="small plain" dir="auto">
          <span className="faint">Ground truth: </span>
          <PlainText text={sample.reference} />
        </p>
      )}
      {tags.length > 0 && (
        <p className="small plain" dir="auto">
          {tags.map((tag) => (
            <span key={tag} className="tag">
              <PlainText text={tag} />
            </span>
          ))}
        </p>
      )}
      {metadata.length > 0 && (
        <p className="small faint plain" dir="auto">
          <PlainText
            text={metadata.map(([name, value]) => `${name}: ${shown(value)}`).join(", ")}
          />
        </p>
      )}
    </>
  );
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
