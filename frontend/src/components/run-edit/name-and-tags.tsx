/** A run's name and tags as two fields where they stand: Enter keeps them, Escape does not. */
import "./run-edit.css";

import { useState, type KeyboardEvent } from "react";

import type { Run } from "@/api/types";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";

import { Clash } from "./clash";
import { useEdit } from "./use-edit";

/** Tags as people write them: between commas. */
export function tagsOf(text: string): string[] {
  const tags = text.split(",").map((tag) => tag.trim());
  return [...new Set(tags.filter((tag) => tag !== ""))];
}

export function NameAndTags({ run, onClose }: { run: Run; onClose: () => void }) {
  const [name, setName] = useState(run.name);
  const [before] = useState(run.tags.join(", "));
  const [tags, setTags] = useState(before);
  // Read from the text, tags that have a comma would differ from what they are.
  const typed = { name: name.trim(), ...(tags === before ? {} : { tags: tagsOf(tags) }) };
  const edit = useEdit(run, typed, onClose);
  const keep = () => {
    if (name.trim() !== "") edit.save();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter") keep();
    else if (event.key === "Escape") onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="name-and-tags">
      <input
        className="input"
        aria-label={`Name of ${run.name}`}
        autoFocus
        maxLength={200}
        aria-invalid={name.trim() === ""}
        value={name}
        onChange={({ target }) => setName(target.value)}
        onKeyDown={onKeyDown}
      />
      <input
        className="input"
        aria-label={`Tags of ${run.name}, separated by commas`}
        placeholder="Tags, separated by commas"
        value={tags}
        onChange={({ target }) => setTags(target.value)}
        onKeyDown={onKeyDown}
      />
      {name.trim() === "" && (
        <span className="wrong" role="alert">
          A run needs a name.
        </span>
      )}
      <div className="row">
        <PendingButton className="btn primary" isPending={edit.asked.isPending} onPress={keep}>
          {edit.clashing.length > 0 ? "Save mine instead" : "Save"}
        </PendingButton>
        <button type="button" className="btn" onClick={onClose}>
          Cancel
        </button>
      </div>
      <Clash fields={edit.clashing} newest={edit.newest} />
      {edit.isRefused && <Refused asked={edit.asked} />}
    </div>
  );
}
