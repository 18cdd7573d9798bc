import { useEffect, useId, useRef, useState, type ComponentProps, type ReactNode, type RefObject } from 'react';
import { useLocale } from '../locale.tsx';
import { classNames } from './class-names.ts';
import css from './field.module.css';
import { Icon } from './icons.tsx';

interface FieldProps extends Omit<ComponentProps<'input'>, 'id' | 'ref' | 'value' | 'onChange' | 'maxLength'> {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: ReactNode;
  /** What is wrong with the input, as a sentence. */
  readonly problem?: string | null | undefined;
  /** Spaces out the digits of a code. */
  readonly isCode?: boolean;
  /** As many characters as the server takes. What is longer is refused here; cut to fit, it would be another text. */
  readonly max?: number;
}

/** A labelled text field. Its error is shown below and announced with it. */
export function Field({
  label,
  hint,
  problem: given = null,
  isCode = false,
  max,
  className,
  onValue,
  ...rest
}: FieldProps) {
  const id = useId();
  const { ref, problem } = useLimit(rest.value, max, given);
  return (
    <Labelled id={id} label={label}>
      <input
        {...rest}
        {...describedBy(id, hint, problem)}
        ref={ref}
        id={id}
        {...(max === undefined ? {} : { maxLength: longest(max) })}
        onChange={(event) => onValue(event.currentTarget.value)}
        className={classNames(css.input, isCode && css.code, className)}
      />
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

/** A field that has a name of its own, which may be given another one. */
type WithOwnLabel = Omit<FieldProps, 'label'> & { readonly label?: string };

/** The server's limits. */
const MAX_PASSWORD = 1_024;
const MAX_EMAIL = 254;

/** An e-mail address, by default the person's own. */
export function EmailField({ label, required = true, ...rest }: WithOwnLabel) {
  const { t } = useLocale();
  return (
    <Field
      {...rest}
      type="email"
      label={label ?? t('email')}
      name="email"
      required={required}
      max={MAX_EMAIL}
      spellCheck={false}
      autoCapitalize="none"
    />
  );
}

/** A password field whose text can be shown. */
export function PasswordField({
  label,
  hint,
  problem: given = null,
  max = MAX_PASSWORD,
  className,
  onValue,
  ...rest
}: FieldProps) {
  const { t } = useLocale();
  const id = useId();
  const { ref, problem } = useLimit(rest.value, max, given);
  const [isShown, show] = useState(false);
  return (
    <Labelled id={id} label={label}>
      <div className={css.with}>
        <input
          {...rest}
          {...describedBy(id, hint, problem)}
          ref={ref}
          id={id}
          required
          maxLength={longest(max)}
          onChange={(event) => onValue(event.currentTarget.value)}
          type={isShown ? 'text' : 'password'}
          spellCheck={false}
          autoCapitalize="none"
          className={classNames(css.input, className)}
        />
        <button type="button" className={css.reveal} aria-pressed={isShown} onClick={() => show(!isShown)}>
          {t(isShown ? 'hide' : 'show')}
        </button>
      </div>
      <Below id={id} hint={hint} problem={problem} />
    </Labelled>
  );
}

const MIN_PASSWORD = 12;

/** A field for choosing a password. */
export function NewPasswordField({ label, ...rest }: WithOwnLabel) {
  const { t } = useLocale();
  return (
    <PasswordField
      {...rest}
      label={label ?? t('password')}
      name="password"
      autoComplete="new-password"
      minLength={MIN_PASSWORD}
      hint={t('password_hint')}
    />
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

/** What is wrong with the text, its length before all else: the browser sends no form with a text that is too long. */
export function useLimit(
  value: string,
  max: number | undefined,
  given: string | null,
): { readonly ref: RefObject<HTMLInputElement | null>; readonly problem: string | null } {
  const { t } = useLocale();
  const ref = useRef<HTMLInputElement>(null);
  const tooLong = max !== undefined && isLongerThan(max, value) ? t('too_long', { max }) : null;
  useEffect(() => ref.current?.setCustomValidity(tooLong ?? ''), [tooLong]);
  return { ref, problem: tooLong ?? given };
}

/** In characters as the server counts them, of which one is at most two units. */
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
