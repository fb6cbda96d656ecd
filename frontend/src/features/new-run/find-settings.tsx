/** Above the form: find a setting among dozens, or look at those alone that are set. */
import { Icon } from "@/components/icons";

export interface Finding {
  readonly text: string;
  readonly isSetOnly: boolean;
}

export const EVERYTHING: Finding = { text: "", isSetOnly: false };

export const isSearching = ({ text, isSetOnly }: Finding): boolean =>
  isSetOnly || text.trim() !== "";

export function FindSettings(props: { finding: Finding; onFind: (finding: Finding) => void }) {
  const { finding, onFind } = props;
  return (
    <div className="row find-settings">
      <span className="find-field icon-field">
        <Icon name="search" />
        <input
          className="input"
          type="search"
          aria-label="Find a setting"
          placeholder="Find a setting: kl, temperature, clip…"
          value={finding.text}
          onChange={(event) => onFind({ ...finding, text: event.target.value })}
        />
      </span>
      <label className="check small">
        <input
          type="checkbox"
          checked={finding.isSetOnly}
          onChange={(event) => onFind({ ...finding, isSetOnly: event.target.checked })}
        />
        only what is set
      </label>
    </div>
  );
}
