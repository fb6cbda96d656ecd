/** The filter: a field that completes keys, operators and values, and says what is wrong with it. */
import { useQuery } from "@tanstack/react-query";
import {
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type RefObject,
} from "react";
import { flushSync } from "react-dom";

import { experimentsQuery } from "@/api/experiments";
import { runKeysQuery } from "@/api/runs";
import type { RunKeys } from "@/api/types";
import { Icon } from "@/components/icons";
import { PlainText } from "@/components/text/plain-text";

import { complete, isComplete, maySend, taken, type Completion, type Known } from "./completion";

/** Long enough that a word is not sent letter by letter. */
const PAUSE_MS = 250;

const NO_KEYS: RunKeys = { config: [], metrics: [], tags: [], fields: [] };
const CLOSED: Completion = { from: 0, options: [] };

function useKnown(projectId: string, isAsked: boolean): Known {
  const keys = useQuery({ ...runKeysQuery(projectId), enabled: isAsked }).data ?? NO_KEYS;
  const experiments = useQuery({ ...experimentsQuery(projectId), enabled: isAsked }).data;
  return { keys, experiments: experiments?.items.map(({ name }) => name) ?? [] };
}

export function FilterBox(props: {
  projectId: string;
  value: string;
  /** What the server says of the filter that was sent; null if it was read. */
  problem: string | null;
  field: RefObject<HTMLInputElement | null>;
  onFilter: (filter: string) => void;
  onHelp: () => void;
}) {
  const { value, problem, field, onFilter } = props;
  const [text, setText] = useState(value);
  const [sent, setSent] = useState(value);
  const [seen, setSeen] = useState(value);
  const [hasFocus, setFocus] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const [caret, setCaret] = useState(value.length);
  const [at, setAt] = useState(-1);
  const known = useKnown(props.projectId, hasFocus);
  const list = useId();
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Somebody went back in the history, or cleared all filters.
  if (value !== seen) {
    setSeen(value);
    setSent(value);
    if (value !== sent) setText(value);
  }
  const lastSent = useRef(value);
  useLayoutEffect(() => {
    // What waits to be sent was typed into what stood there before.
    if (value !== lastSent.current) clearTimeout(waiting.current);
    lastSent.current = value;
  }, [value]);
  useEffect(() => () => clearTimeout(waiting.current), []);

  const { from, options } = isOpen ? complete(text, caret, known) : CLOSED;
  const isShown = hasFocus && options.length > 0;

  const chosenOption = isShown && at >= 0 ? `${list}-${at}` : null;
  useEffect(() => {
    const option = chosenOption === null ? null : document.getElementById(chosenOption);
    option?.scrollIntoView({ block: "nearest" });
  }, [chosenOption]);

  const send = (next: string) => {
    clearTimeout(waiting.current);
    const filter = next.trim();
    if (filter === sent) return;
    setSent(filter);
    lastSent.current = filter;
    onFilter(filter);
  };
  const write = (next: string, place: number) => {
    setText(next);
    setCaret(place);
    setAt(-1);
    setOpen(true);
    clearTimeout(waiting.current);
    if (maySend(next, place, known)) waiting.current = setTimeout(() => send(next), PAUSE_MS);
  };
  const take = (place: number) => {
    const option = options[place];
    if (option === undefined) return;
    const next = taken(text, caret, { from, insert: option.insert });
    // At once: a caret that is set a frame later jumps back behind letters typed meanwhile.
    flushSync(() => write(next.text, next.caret));
    field.current?.setSelectionRange(next.caret, next.caret);
  };
  // Whoever is faster than the list finds its first option chosen when it comes.
  const openAtFirst = () => {
    setOpen(true);
    setAt(0);
  };
  const press: Readonly<Record<string, () => void>> = {
    ArrowDown: () => (isShown ? setAt((at + 1) % options.length) : openAtFirst()),
    ArrowUp: () => (isShown ? setAt((at <= 0 ? options.length : at) - 1) : openAtFirst()),
    Enter: () => {
      if (isShown && at >= 0) return take(at);
      setOpen(false);
      send(text);
    },
    Escape: () => (isShown ? setOpen(false) : field.current?.blur()),
    ...(isShown && at >= 0 && { Tab: () => take(at) }),
  };
  const onKey = (event: KeyboardEvent<HTMLInputElement>) => {
    const act = event.nativeEvent.isComposing ? undefined : press[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };

  return (
    <div className="filter-box">
      <div className="filter-field icon-field">
        <Icon name="search" />
        <input
          ref={field}
          className="input"
          type="text"
          role="combobox"
          aria-label="Filter runs"
          aria-expanded={isShown}
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={chosenOption ?? undefined}
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? undefined : `${list}-problem`}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          maxLength={1000}
          placeholder="Filter: state:running best.eval/reward>0.5 -tag:old"
          value={text}
          onChange={({ target }) =>
            write(target.value, target.selectionStart ?? target.value.length)
          }
          onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart ?? caret)}
          onFocus={() => {
            setFocus(true);
            setOpen(true);
          }}
          onBlur={() => {
            setFocus(false);
            if (isComplete(text)) send(text);
          }}
          onKeyDown={onKey}
        />
        {text === "" ? (
          <kbd aria-hidden="true">/</kbd>
        ) : (
          <button
            type="button"
            className="btn ghost icon"
            aria-label="Clear the filter"
            onClick={() => {
              write("", 0);
              send("");
              field.current?.focus();
            }}
          >
            <Icon name="close" />
          </button>
        )}
        <ul id={list} role="listbox" aria-label="Suggestions" hidden={!isShown}>
          {options.map(({ insert, about }, place) => (
            <li
              key={insert}
              id={`${list}-${place}`}
              role="option"
              aria-selected={place === at}
              // The field keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => take(place)}
            >
              <code>
                <PlainText text={insert} />
              </code>
              <span className="small muted">{about}</span>
            </li>
          ))}
        </ul>
      </div>
      <button type="button" className="btn ghost" onClick={props.onHelp}>
        How to filter
      </button>
      {problem !== null && (
        <p className="filter-problem small" id={`${list}-problem`} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
