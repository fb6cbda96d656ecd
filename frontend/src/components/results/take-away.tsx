/** All tables of results as Markdown, CSV and LaTeX. */
import { useMutation } from "@tanstack/react-query";

import { writtenResults, type ResultsFormat, type Whose } from "@/api/measured/results";
import { Icon } from "@/components/icons";
import { Refused } from "@/components/refused";
import { CopyButton } from "@/components/text/copy-button";
import { save } from "@/lib/files/download";
import { fileName } from "@/lib/files/file-name";

const FILES = [
  ["csv", "CSV", "text/csv"],
  ["latex", "LaTeX", "application/x-tex"],
] as const satisfies readonly (readonly [ResultsFormat, string, string])[];

const ENDINGS = { csv: "csv", latex: "tex" } as const;

/** `of`: parts of the names of the files. */
export function TakeAway({ whose, of }: { whose: Whose; of: readonly string[] }) {
  const saving = useMutation({
    mutationFn: async ([format, , type]: (typeof FILES)[number]) => {
      const text = await writtenResults(whose, format);
      save(new Blob([text], { type }), fileName(of, ENDINGS[format]));
    },
  });
  return (
    <>
      <Refused asked={saving} />
      <CopyButton
        text={() => writtenResults(whose, "markdown")}
        label="Copy the results as Markdown"
        words="Markdown"
      />
      {FILES.map((file) => (
        <button
          key={file[0]}
          type="button"
          className="btn"
          aria-label={`Save the results as ${file[1]}`}
          onClick={() => saving.mutate(file)}
        >
          <Icon name="file" /> {file[1]}
        </button>
      ))}
    </>
  );
}
