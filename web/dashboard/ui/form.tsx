import { useEffect, useRef, type ReactNode, useId, useState, type ComponentProps } from 'react';
import { useDashboard } from '../dashboard.ts';
import css from './field.module.css';
import { useLocale } from '../locale.tsx';
import { classNames } from './class-names.ts';
import { Below, describedBy, Field, Labelled, type FieldProps, Select, useLimit } from './field.tsx';
import { problemOf } from '../problem.ts';
import { FormId } from './dialog.tsx';

interface FormProps {
  /** Whether it has unsaved input; leaving the page then asks first. */
  readonly isDirty?: boolean;
  /** The server's error of the last attempt. */
  readonly fault?: unknown;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}

/** A form with the browser's validation. The field of a server's error gets the focus. */
export function Form({ isDirty = false, fault = null, onSubmit, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  const { unsaved } = useDashboard();
  useEffect(() => {
    if (!isDirty) return undefined;
    unsaved.set(unsaved.get() + 1);
    return () => unsaved.set(Math.max(0, unsaved.get() - 1));
  }, [isDirty, unsaved]);
  useEffect(() => {
    if (fault !== null) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [fault]);
  return (
    <form
      id={id}
      ref={form}
      className={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <FormId value={id}>{children}</FormId>
    </form>
  );
}

/** A field with a default label, which may be replaced. */
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
export function PasswordField(props: FieldProps) {
  const { t } = useLocale();
  const [isShown, show] = useState(false);
  return (
    <Field
      max={MAX_PASSWORD}
      {...props}
      required
      type={isShown ? 'text' : 'password'}
      spellCheck={false}
      autoCapitalize="none"
      beside={
        <button type="button" className={css.reveal} aria-pressed={isShown} onClick={() => show(!isShown)}>
          {t(isShown ? 'hide' : 'show')}
        </button>
      }
    />
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

interface NameFieldProps {
  /** By default the name of a thing. */
  readonly label?: string;
  readonly autoComplete?: 'off' | 'name';
  readonly required?: boolean;
  readonly value: string;
  /** The server's error of the last attempt. */
  readonly fault: unknown;
  readonly hint?: ReactNode;
  readonly onValue: (name: string) => void;
}

/** The server's limit. */
const MAX_NAME = 100;

/** The name of a thing that a person creates, or of a person. */
export function NameField({ label, fault, ...rest }: NameFieldProps) {
  const { t } = useLocale();
  return (
    <Field
      required
      autoComplete="off"
      {...rest}
      max={MAX_NAME}
      label={label ?? t('name')}
      problem={problemOf(fault, 'name')}
    />
  );
}

interface CodeFieldProps {
  readonly kind: 'totp' | 'recovery_code';
  readonly value: string;
  readonly problem?: string | null;
  readonly autoFocus?: boolean;
  readonly required?: boolean;
  readonly onChange: (value: string) => void;
}

/** A field for a code of an authenticator app or a recovery code. */
export function CodeField({
  kind,
  value,
  problem = null,
  autoFocus = false,
  required = true,
  onChange,
}: CodeFieldProps) {
  const { t } = useLocale();
  const isTotp = kind === 'totp';
  return (
    <Field
      key={kind}
      label={t(isTotp ? 'one_time_code' : 'recovery_code')}
      hint={t(isTotp ? 'one_time_code_hint' : 'recovery_code_hint')}
      problem={problem}
      isCode={isTotp}
      required={required}
      autoFocus={autoFocus}
      autoComplete={isTotp ? 'one-time-code' : 'off'}
      inputMode={isTotp ? 'numeric' : 'text'}
      max={64}
      spellCheck={false}
      autoCapitalize="none"
      value={value}
      onValue={onChange}
    />
  );
}

interface TextAreaProps extends Omit<ComponentProps<'textarea'>, 'id' | 'value' | 'onChange'> {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: ReactNode;
  /** The error of the input, as a sentence. */
  readonly problem?: string | null | undefined;
  /** Whether the label is only for screen readers. */
  readonly isLabelHidden?: boolean;
}

/** A labelled field for several lines. It takes any length, so that a long paste is not cut off unnoticed. */
export function TextArea({
  label,
  hint,
  problem: given = null,
  isLabelHidden = false,
  onValue,
  ...rest
}: TextAreaProps) {
  const id = useId();
  const { ref, problem } = useLimit<HTMLTextAreaElement>(rest.value, undefined, given);
  return (
    <div className={css.field}>
      <label className={isLabelHidden ? 'unseen' : css.label} htmlFor={id}>
        {label}
      </label>
      <textarea
        rows={2}
        {...rest}
        {...describedBy(id, hint, problem)}
        ref={ref}
        id={id}
        onChange={(event) => onValue(event.currentTarget.value)}
        className={classNames(css.input, css.lines)}
      />
      <Below id={id} hint={hint} problem={problem} />
    </div>
  );
}

interface SelectFieldProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly hint?: string | undefined;
  readonly onValue: (value: string) => void;
}

/** The native select as a labelled field of a form. */
export function SelectField({ label, hint, ...rest }: SelectFieldProps) {
  const id = useId();
  return (
    <Labelled id={id} label={label}>
      <Select {...rest} id={id} label={label} />
      <Below id={id} hint={hint} problem={null} />
    </Labelled>
  );
}
