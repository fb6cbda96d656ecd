/** Everything that a key does beside ranking, for mouse and touch: icons, or a sheet on small screens. */
import "./tools.css";

import { Dialog } from "@/components/dialog";
import { Icon, type IconName } from "@/components/icons";

import type { Command } from "../ranking/keys";

export interface Tool {
  readonly label: string;
  readonly keyName: string;
  readonly icon: IconName;
  readonly command: Command;
}

export const TOOLS: readonly Tool[] = [
  { label: "One at a time", keyName: "M", icon: "alone", command: { kind: "alone" } },
  { label: "Scroll together", keyName: "Y", icon: "together", command: { kind: "together" } },
  { label: "Raw text", keyName: "R", icon: "raw", command: { kind: "raw" } },
  { label: "Word by word", keyName: "V", icon: "differences", command: { kind: "diff" } },
  { label: "Note", keyName: "N", icon: "note", command: { kind: "note" } },
  { label: "Guidelines", keyName: "O", icon: "guidelines", command: { kind: "guidelines" } },
  { label: "Shortcuts", keyName: "?", icon: "keys", command: { kind: "help" } },
];

export const VERDICTS: readonly Tool[] = [
  {
    label: "All bad",
    keyName: "X",
    icon: "close",
    command: { kind: "move", move: { kind: "verdict", verdict: "all_bad" } },
  },
  {
    label: "Cannot judge",
    keyName: "J",
    icon: "alert",
    command: { kind: "move", move: { kind: "verdict", verdict: "cannot_judge" } },
  },
  { label: "Skip", keyName: "S", icon: "right", command: { kind: "skip" } },
];

export interface ToolsProps {
  readonly isOn: (command: Command) => boolean | undefined;
  readonly onCommand: (command: Command) => void;
}

export function Toolbar({ isOn, onCommand }: ToolsProps) {
  return (
    <div className="tools" role="group" aria-label="Tools">
      {TOOLS.map(({ label, keyName, icon, command }) => (
        <button
          type="button"
          key={label}
          className="btn ghost icon"
          aria-label={label}
          aria-pressed={isOn(command)}
          title={`${label} (${keyName})`}
          onClick={() => onCommand(command)}
        >
          <Icon name={icon} />
        </button>
      ))}
    </div>
  );
}

export function Sheet(props: ToolsProps & { onClose: () => void }) {
  const { isOn, onCommand, onClose } = props;
  return (
    <Dialog title="More" className="sheet" onClose={onClose}>
      {[...VERDICTS, ...TOOLS].map(({ label, keyName, icon, command }) => (
        <button
          type="button"
          key={label}
          className={`btn ghost ${command.kind}`}
          aria-pressed={isOn(command)}
          onClick={() => {
            onClose();
            onCommand(command);
          }}
        >
          <Icon name={icon} />
          <span className="grow">{label}</span>
          <kbd>{keyName}</kbd>
        </button>
      ))}
    </Dialog>
  );
}
