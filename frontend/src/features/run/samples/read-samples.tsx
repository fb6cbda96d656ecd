/** A link to the samples of a run; nothing where there can be none. */
import { Link } from "react-router";

import type { Run } from "@/api/types";

import { samplesAddress } from "./samples-address";

interface ReadSamplesProps {
  readonly run: Run;
  /** The address of the run's page. */
  readonly base: string;
  readonly step?: number | undefined;
  readonly className: string;
}

export function ReadSamples({ run, base, step, className }: ReadSamplesProps) {
  const address = samplesAddress(run, base, step);
  if (address === null) return null;
  return (
    <Link className={className} to={address}>
      Read samples
    </Link>
  );
}
