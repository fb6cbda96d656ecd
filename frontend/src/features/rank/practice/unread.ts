/** The practice answer whose feedback is not read yet; it is kept so that a reload shows it again. */
import { useState } from "react";

import type { PracticeFeedback, PracticeTask } from "@/api/types";
import { read, remove, write } from "@/lib/storage";

import type { Ranking } from "../ranking/ranking";

export interface Unread {
  readonly task: PracticeTask;
  readonly ranking: Ranking;
  readonly feedback: PracticeFeedback;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const isUnread = (value: unknown): value is Unread =>
  isObject(value) &&
  ["task", "ranking", "feedback"].every((name) => isObject(Reflect.get(value, name)));

export function useUnread(projectId: string, userId: string) {
  const key = `podium.practice.${userId}.${projectId}`;
  const [unread, setUnread] = useState(() => read(localStorage, key, isUnread));
  const keepUnread = (answered: Unread) => {
    write(localStorage, key, answered);
    setUnread(answered);
  };
  const dropUnread = () => {
    remove(localStorage, key);
    setUnread(null);
  };
  return { unread, keepUnread, dropUnread };
}
