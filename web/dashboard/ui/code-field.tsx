import { useLocale } from '../locale.tsx';
import { Field } from './field.tsx';

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
