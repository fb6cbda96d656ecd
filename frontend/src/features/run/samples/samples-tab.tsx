/** What the policy really says: samples of one step with every score, tokens shaded. */
import { useQuery } from "@tanstack/react-query";

import { samplesQuery } from "@/api/runs";
import type { Sample, Samples } from "@/api/types";
import { Icon } from "@/components/icons";
import { Segmented } from "@/components/segmented";
import { Empty, Loaded } from "@/components/states";
import { PlainText } from "@/components/text/plain-text";
import { useView } from "@/features/run/view";
import { number, plural } from "@/lib/format";

import { SHADES, Tokens, type Shade } from "./tokens";

function shadeOf(text: string | null): Shade {
  return SHADES.find(([shade]) => shade === text)?.[0] ?? "advantage";
}

function Row({ sample, shade }: { sample: Sample; shade: Shade }) {
  return (
    <li className="sample">
      <div>
        <p className="plain muted" dir="auto">
          <PlainText text={sample.prompt} />
        </p>
        <span className="small faint mono">
          {sample.finish_reason === "length" ? "cut by the token limit" : ""}
        </span>
      </div>
      <Tokens sample={sample} shade={shade} />
      <dl className="nums">
        {Object.entries(sample.scores).map(([name, value]) => (
          <div key={name}>
            <dt className="clip" title={name}>
              {name}
            </dt>
            <dd>{number(value)}</dd>
          </div>
        ))}
      </dl>
    </li>
  );
}

function StepChooser({ data, onStep }: { data: Samples; onStep: (step: number) => void }) {
  const place = data.step === null ? -1 : data.steps.indexOf(data.step);
  const go = (by: number) => {
    const step = data.steps[place + by];
    if (step !== undefined) onStep(step);
  };
  return (
    <div className="row">
      <button
        type="button"
        className="btn icon"
        aria-label="Earlier step"
        disabled={place <= 0}
        onClick={() => go(-1)}
      >
        ‹
      </button>
      <select
        className="input steps-select"
        aria-label="Step"
        value={data.step ?? ""}
        onChange={(event) => onStep(Number(event.target.value))}
      >
        {data.steps.map((step) => (
          <option key={step} value={step}>
            step {step}
          </option>
        ))}
      </select>
      <button
        type="button"
        className="btn icon"
        aria-label="Later step"
        disabled={place < 0 || place >= data.steps.length - 1}
        onClick={() => go(1)}
      >
        ›
      </button>
    </div>
  );
}

export function SamplesTab({ runId }: { runId: string }) {
  const { search, set } = useView();
  const asked = search.get("step");
  const step = asked === null ? null : Number(asked);
  const sort = search.get("sort") ?? "order";
  const shade = shadeOf(search.get("shade"));
  const query = useQuery(samplesQuery(runId, step, sort));
  return (
    <Loaded query={query} lines={8}>
      {(data) =>
        data.steps.length === 0 ? (
          <section className="card">
            <Empty icon="note" title="No samples">
              policy_gradient, generate and evaluate runs log some responses with their scores. The
              section <code>log</code> of the config sets how many.
            </Empty>
          </section>
        ) : (
          <section className="card samples">
            <header>
              <StepChooser data={data} onStep={(next) => set({ step: String(next) })} />
              <Segmented
                label="Shade tokens by"
                value={shade}
                options={SHADES}
                onChange={(value) => set({ shade: value === "advantage" ? null : value })}
              />
              <select
                className="input sort-select"
                aria-label="Sort"
                value={sort}
                onChange={(event) => set({ sort: event.target.value })}
              >
                <option value="order">in logged order</option>
                {Object.keys(data.items[0]?.scores ?? {}).map((name) => [
                  <option key={`-${name}`} value={`-${name}`}>
                    highest {name}
                  </option>,
                  <option key={name} value={name}>
                    lowest {name}
                  </option>,
                ])}
              </select>
              <span className="grow" />
              <span className="small faint">{plural(data.items.length, "sample")}</span>
            </header>
            {data.items.length === 0 && (
              <div className="note">
                <Icon name="note" /> No samples were logged at step {data.step}. Choose another
                step.
              </div>
            )}
            <ol>
              {data.items.map((sample) => (
                <Row key={sample.number} sample={sample} shade={shade} />
              ))}
            </ol>
          </section>
        )
      }
    </Loaded>
  );
}
