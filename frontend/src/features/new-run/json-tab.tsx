/** The same config as text; what is written here is on the form at once. */
import { useState } from "react";

import type { JsonObject } from "@/api/types";

import { parsedConfig } from "./config/json-text";
import { isSame } from "./config/paths";
import { fieldId } from "./fields/form-context";

const id = fieldId("");

export function JsonTab(props: { config: JsonObject; onChange: (config: JsonObject) => void }) {
  const [text, setText] = useState(() => JSON.stringify(props.config, null, 2));
  const parsed = parsedConfig(text);
  const isBehind = parsed.config !== null && !isSame(parsed.config, props.config);
  // The config changed elsewhere, by another preset or an undo: the text follows.
  const shown = isBehind ? JSON.stringify(props.config, null, 2) : text;
  return (
    <section className="card padded json-tab">
      <label htmlFor={id} className="hint">
        Keys that are missing here take their default. You can paste the config of another run.
      </label>
      <textarea
        id={id}
        className="input mono"
        rows={Math.max(16, shown.split("\n").length + 1)}
        spellCheck={false}
        aria-invalid={parsed.mistake !== null || undefined}
        aria-describedby={`${id}-mistake`}
        value={shown}
        onChange={(event) => {
          setText(event.target.value);
          const { config } = parsedConfig(event.target.value);
          if (config !== null) props.onChange(config);
        }}
      />
      <p id={`${id}-mistake`} className="error small" aria-live="polite">
        {parsed.mistake !== null && `${parsed.mistake} The form keeps the last valid config.`}
      </p>
    </section>
  );
}
