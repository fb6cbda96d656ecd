/** What is typed on the settings of a project; the newest settings come in below it. */
import { useState } from "react";

import type { Project } from "@/api/types";

import {
  clashing,
  differing,
  taken,
  typedFrom,
  withFields,
  type FieldName,
  type Typed,
} from "./typed";

/** Somebody else saved: their fields that are in the form now, and those that both typed. */
export interface Newer {
  readonly taken: readonly FieldName[];
  readonly clashing: readonly FieldName[];
}

export function useTyped(project: Project) {
  // What is on screen was made from this one.
  const [from, setFrom] = useState(project);
  const [typed, setTyped] = useState(() => typedFrom(project));
  // How the settings were before somebody else changed them, and which of theirs came in.
  const [before, setBefore] = useState<Typed | null>(null);
  const [theirs, setTheirs] = useState<readonly FieldName[]>([]);
  const newest = typedFrom(from);
  if (project.revision > from.revision) {
    const arriving = typedFrom(project);
    const untouched = taken(typed, newest, arriving);
    const now = withFields(typed, untouched, arriving);
    const isMineLeft = differing(now, arriving).length > 0;
    setTyped(now);
    setBefore(isMineLeft ? (before ?? newest) : null);
    setTheirs(isMineLeft ? [...new Set([...theirs, ...untouched])] : []);
    setFrom(project);
  }
  const isChanged = differing(typed, newest).length > 0;
  const clashes = before === null ? [] : clashing(typed, before, newest);
  return {
    from,
    newest,
    typed,
    isChanged,
    newer: before !== null && isChanged ? { taken: theirs, clashing: clashes } : null,
    set: (more: Partial<Typed>) => setTyped({ ...typed, ...more }),
    /** Returns whether anything of one's own is left. */
    takeTheirs: (field: FieldName): boolean => {
      const now = withFields(typed, [field], newest);
      const isMineLeft = differing(now, newest).length > 0;
      setTyped(now);
      setBefore(isMineLeft && before !== null ? withFields(before, [field], newest) : null);
      if (!isMineLeft) setTheirs([]);
      return isMineLeft;
    },
    /** The server has what was sent, as it writes it; what was typed since stays typed. */
    saved: (answer: Project, sent: Typed) => {
      const stored = typedFrom(answer);
      setTyped((now) => withFields(stored, differing(now, sent), now));
      setFrom(answer);
      setBefore(null);
      setTheirs([]);
    },
  };
}
