import { useEffect, useRef, useState } from 'react';
import { Icon } from './icons.tsx';
import css from './search-field.module.css';

/** How long after the last keystroke the search starts. */
const TYPING_MS = 250;
const MAX_SEARCH = 255;

interface SearchFieldProps {
  /** The accessible name and placeholder. */
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string | undefined) => void;
}

/** A field whose text is searched for once the person stops typing. */
export function SearchField({ label, text, onText }: SearchFieldProps) {
  const [typed, setTyped] = useState(text);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // The URL can change too, for example by the browser's back button.
  useEffect(() => setTyped(text), [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const send = (value: string, inMs: number): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onText(value.trim() === '' ? undefined : value.trim()), inMs);
  };
  return (
    <div className={css.search}>
      <Icon name="search" size={16} />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        maxLength={MAX_SEARCH}
        spellCheck={false}
        autoComplete="off"
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          send(event.currentTarget.value, TYPING_MS);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') send(event.currentTarget.value, 0);
          if (event.key !== 'Escape') return;
          // The browser would clear the search too.
          event.preventDefault();
          event.currentTarget.blur();
        }}
      />
    </div>
  );
}
