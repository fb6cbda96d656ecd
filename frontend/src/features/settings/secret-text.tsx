/** A secret that is shown once: it stands here until whoever made it says that it is copied. */
import { Icon } from "@/components/icons";
import { CopyButton } from "@/components/text/copy-button";

export function SecretText(props: { label: string; text: string; onDone: () => void }) {
  return (
    <div className="note good" role="status">
      <Icon name="lock" />
      <div className="grow">
        <b>{props.label}.</b> It is shown only now: copy it before you leave this page.
        <code className="mono secret-value">{props.text}</code>
      </div>
      <CopyButton text={props.text} label={`Copy ${props.label}`} />
      <button type="button" className="btn ghost" onClick={props.onDone}>
        Done
      </button>
    </div>
  );
}
