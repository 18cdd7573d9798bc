import { useEffect, useId, useRef, useState, type ComponentProps, type ReactNode, type RefObject } from 'react';
import { useLocale, type Translate } from '../locale.tsx';
import { classNames } from './class-names.ts';
import css from './field.module.css';
import { Icon } from './icons.tsx';

export interface FieldProps extends Omit<ComponentProps<'input'>, 'id' | 'ref' | 'value' | 'onChange' | 'maxLength'> {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: ReactNode;
  /** The error of the input, as a sentence. */
  readonly problem?: string | null | undefined;
  /** Spaces out the digits of a code. */
  readonly isCode?: boolean;
  /** The server's limit in characters. A longer text is refused here, because cutting it would change it. */
  readonly max?: number;
  /** A control within the field. */
  readonly beside?: ReactNode;
  /** The control of what the text counts, after the field. */
  readonly unit?: ReactNode;
}

/** A labelled text field. Its error is shown below and announced with it. */
export function Field({
  label,
  hint,
  problem: given = null,
  isCode = false,
  max,
  className,
  beside,
  unit,
  onValue,
  ...rest
}: FieldProps) {
  const id = useId();
  const { ref, problem } = useLimit(rest.value, max, given);
  const input = (
    <input
      {...rest}
      {...describedBy(id, hint, problem)}
      ref={ref}
      id={id}
      {...(max === undefined ? {} : { maxLength: longest(max) })}
      onChange={(event) => onValue(event.currentTarget.value)}
      className={classNames(css.input, isCode && css.code, className)}
    />
  );
  return (
    <Labelled id={id} label={label}>
      {beside === undefined && unit === undefined ? (
        input
      ) : (
        <div className={unit === undefined ? css.with : css.counted}>
          {input}
          {beside}
          {unit}
        </div>
      )}
      <Below id={id} hint={hint} problem={problem} />
    </Labelled>
  );
}

/** A control below its label. */
export function Labelled({
  id,
  label,
  children,
}: {
  readonly id: string;
  readonly label: string;
  readonly children: ReactNode;
}) {
  return (
    <div className={css.field}>
      <label className={css.label} htmlFor={id}>
        {label}
      </label>
      {children}
    </div>
  );
}

interface SelectProps extends Omit<ComponentProps<'select'>, 'onChange'> {
  /** The accessible name. */
  readonly label: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onValue: (value: string) => void;
}

/** The native select, which works well on phones and with keyboards. */
export function Select({ label, options, onValue, className, ...rest }: SelectProps) {
  return (
    <span className={css.chooser}>
      <select
        {...rest}
        aria-label={label}
        className={classNames(css.select, className)}
        onChange={(event) => onValue(event.currentTarget.value)}
      >
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <Icon name="chevron-down" size={15} />
    </span>
  );
}

/**
 * The error of a field, its length first: the browser does not submit a text that is too long. What the browser refuses
 * to submit is said here as well, in place of its bubble, until the value changes.
 */
export function useLimit<Control extends HTMLInputElement | HTMLTextAreaElement = HTMLInputElement>(
  value: string,
  max: number | undefined,
  given: string | null,
): { readonly ref: RefObject<Control | null>; readonly problem: string | null } {
  const { t } = useLocale();
  const ref = useRef<Control>(null);
  const [refused, setRefused] = useState<{ readonly value: string; readonly text: string } | null>(null);
  const tooLong = max !== undefined && isLongerThan(max, value) ? t('too_long', { max }) : null;
  useEffect(() => ref.current?.setCustomValidity(tooLong ?? ''), [tooLong]);
  useEffect(() => {
    const input = ref.current;
    if (input === null) return undefined;
    const refuse = (event: Event): void => {
      event.preventDefault();
      setRefused({ value, text: refusalOf(input, t) });
      if (input.form?.querySelector('input:invalid, textarea:invalid, select:invalid') === input) input.focus();
    };
    input.addEventListener('invalid', refuse);
    return () => input.removeEventListener('invalid', refuse);
  }, [value, t]);
  return { ref, problem: tooLong ?? (refused?.value === value ? refused.text : given) };
}

/** Why the browser does not submit the input, in the person's language where the rule is known. */
function refusalOf(control: HTMLInputElement | HTMLTextAreaElement, t: Translate): string {
  const { type, validity, minLength, title, validationMessage } = control;
  if (validity.valueMissing) return t(type === 'checkbox' ? 'field_unchecked' : 'field_missing');
  if (validity.tooShort) return t('too_short', { min: minLength });
  if (validity.typeMismatch && type === 'email') return t('not_email');
  if (validity.typeMismatch && type === 'url') return t('not_url');
  if (validity.badInput) return type === 'number' ? t('not_a_number', { example: '30' }) : t('field_incomplete');
  // A pattern's rule is in the title.
  if (validity.patternMismatch && title !== '') return title;
  if (control instanceof HTMLInputElement && (validity.rangeUnderflow || validity.rangeOverflow)) {
    const { min, max } = control;
    return min !== '' && max !== '' ? t('out_of_range', { min, max }) : validationMessage;
  }
  return validationMessage;
}

/** Compares the length in characters as the server counts them, of which one is at most two units. */
function isLongerThan(max: number, text: string): boolean {
  return text.length > max && Array.from(text).length > max;
}

/** How much of a paste the browser keeps, in UTF-16 units: still too long, and little enough to keep the page quick. */
const longest = (max: number): number => 2 * max + 1;

export function describedBy(
  id: string,
  hint: ReactNode,
  problem: string | null,
): Pick<ComponentProps<'input'>, 'aria-invalid' | 'aria-describedby'> {
  const ids = [problem === null ? null : `${id}-problem`, hint === undefined ? null : `${id}-hint`].filter(Boolean);
  return {
    'aria-invalid': problem !== null,
    ...(ids.length > 0 && { 'aria-describedby': ids.join(' ') }),
  };
}

/** The error and hint below a field. */
export function Below({
  id,
  hint,
  problem,
}: {
  readonly id: string;
  readonly hint: ReactNode;
  readonly problem: string | null;
}) {
  return (
    <>
      {problem === null ? null : (
        <p className={css.problem} id={`${id}-problem`}>
          <Icon name="warning" size={15} />
          {problem}
        </p>
      )}
      {hint === undefined ? null : (
        <p className={css.hint} id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </>
  );
}

interface DayInputProps {
  /** The accessible name, unless a label is around it. */
  readonly label?: string;
  /** The id that a label above it names. */
  readonly id?: string;
  readonly value: string;
  readonly min?: string;
  readonly max?: string;
  readonly onDay: (day: string) => void;
}

/** A field for a day, such as 2026-01-31; empty while it is being typed. */
export function DayInput({ label, onDay, ...rest }: DayInputProps) {
  return (
    <input {...rest} type="date" aria-label={label} onChange={({ currentTarget }) => onDay(currentTarget.value)} />
  );
}

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
