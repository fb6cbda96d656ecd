/** All that could explain a difference: config, code and machine, data; what is equal is not told. */
import type { SeedGroups } from "@/api/types";

import { ConfigDifferences } from "./config-differences";
import { DataDifferences } from "./data-differences";
import { EnvironmentDifferences } from "./environment-differences";

export function WhatDiffers({ answer }: { answer: SeedGroups }) {
  return (
    <section className="card what-differs" aria-label="What differs">
      <h2 className="card-title">What differs</h2>
      <ConfigDifferences answer={answer} />
      <DataDifferences answer={answer} />
      <EnvironmentDifferences answer={answer} />
    </section>
  );
}
