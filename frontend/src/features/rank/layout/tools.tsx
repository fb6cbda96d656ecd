/** Everything that a key does beside ranking, for mouse and touch: icons, or a sheet on small screens. */
import "./tools.css";

import { Dialog } from "@/components/dialog";
import { Icon, type IconName } from "@/components/icons";

import { useSendsAtOnce } from "../criteria/at-once";
import { wordsOfCommand } from "../criteria/choice";
import { Hint } from "../keys/hint";
import { useWithKey } from "../keys/labels";
import type { Action } from "../keys/keymap";
import { COMMANDS, type Command } from "../keys/keys";
import type { Ranking } from "../ranking/ranking";

export interface Tool {
  readonly label: string;
  readonly action: Action;
  readonly icon: IconName;
}

export const TOOLS: readonly Tool[] = [
  { label: "One at a time", action: "alone", icon: "alone" },
  { label: "Scroll together", action: "together", icon: "together" },
  { label: "Raw text", action: "raw", icon: "raw" },
  { label: "Word by word", action: "diff", icon: "differences" },
  { label: "Note", action: "note", icon: "note" },
  { label: "Guidelines", action: "guidelines", icon: "guidelines" },
  { label: "Shortcuts", action: "help", icon: "keys" },
];

const VERDICTS: readonly Tool[] = [
  { label: "All bad", action: "all_bad", icon: "close" },
  { label: "Cannot judge", action: "cannot_judge", icon: "alert" },
  { label: "Skip", action: "skip", icon: "right" },
];

/** What ends a comparison without a ranking; a judgment that is revised cannot be skipped. */
export const verdicts = (canSkip: boolean): readonly Tool[] =>
  VERDICTS.filter(({ action }) => canSkip || action !== "skip");

export interface ToolsProps {
  readonly isOn: (command: Command) => boolean | undefined;
  readonly onCommand: (command: Command) => void;
}

export function Toolbar({ isOn, onCommand }: ToolsProps) {
  const withKey = useWithKey();
  return (
    <div className="tools" role="group" aria-label="Tools">
      {TOOLS.map(({ label, action, icon }) => (
        <button
          type="button"
          key={label}
          className="btn ghost icon"
          aria-label={label}
          aria-pressed={isOn(COMMANDS[action])}
          title={withKey(label, action)}
          onClick={() => onCommand(COMMANDS[action])}
        >
          <Icon name={icon} />
        </button>
      ))}
    </div>
  );
}

export interface SheetProps extends ToolsProps {
  readonly ranking: Ranking;
  readonly canSkip: boolean;
  readonly onClose: () => void;
}

export function Sheet(props: SheetProps) {
  const { ranking, isOn, onCommand, onClose } = props;
  const sendsAtOnce = useSendsAtOnce();
  return (
    <Dialog title="More" className="sheet" onClose={onClose}>
      {[...verdicts(props.canSkip), ...TOOLS].map(({ label, action, icon }) => (
        <button
          type="button"
          key={label}
          className="btn ghost"
          data-action={action}
          aria-pressed={isOn(COMMANDS[action])}
          onClick={() => {
            onClose();
            onCommand(COMMANDS[action]);
          }}
        >
          <Icon name={icon} />
          <span className="grow">
            {wordsOfCommand(label, ranking, COMMANDS[action], sendsAtOnce) ?? label}
          </span>
          <Hint action={action} />
        </button>
      ))}
    </Dialog>
  );
}
