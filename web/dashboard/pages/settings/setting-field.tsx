import { Field } from '../../ui/field.tsx';

/** What is typed. `logo`: a new file in base64; null: none; undefined: as it is. */
export interface Fields {
  readonly name: string;
  readonly accent: string;
  readonly support_url: string;
  readonly logo?: string | null;
  readonly default_expiry_minutes: string;
  readonly default_currency: string;
  readonly default_success_url: string;
}

/** The form that a field is part of. */
export interface FormPart {
  readonly fields: Fields;
  readonly onChange: (change: Partial<Fields>) => void;
  /** What is wrong with a field, as a sentence. */
  readonly problemAt: (field: string) => string | null;
}

interface SettingFieldProps {
  readonly of: FormPart;
  readonly field: Exclude<keyof Fields, 'logo'>;
  /** Its label and the hint below it. */
  readonly texts: readonly [label: string, hint: string];
  readonly max: number;
  readonly required?: boolean;
  readonly inputMode?: 'numeric';
}

/** One setting that is typed. */
export function SettingField({ of, field, texts: [label, hint], ...rest }: SettingFieldProps) {
  return (
    <Field
      {...rest}
      label={label}
      hint={hint}
      value={of.fields[field]}
      autoComplete="off"
      spellCheck={false}
      problem={of.problemAt(field)}
      onValue={(text) => of.onChange({ [field]: text })}
    />
  );
}
