import { useId } from 'react';
import css from './field.module.css';
import { Icon } from './icons.tsx';

interface SelectFieldProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onValue: (value: string) => void;
}

/** The native select as a labelled field of a form. */
export function SelectField({ label, value, options, onValue }: SelectFieldProps) {
  const id = useId();
  return (
    <div className={css.field}>
      <label className={css.label} htmlFor={id}>
        {label}
      </label>
      <span className={css.chooser}>
        <select id={id} value={value} className={css.select} onChange={(event) => onValue(event.currentTarget.value)}>
          {options.map(([key, text]) => (
            <option key={key} value={key}>
              {text}
            </option>
          ))}
        </select>
        <Icon name="chevron-down" size={15} />
      </span>
    </div>
  );
}
