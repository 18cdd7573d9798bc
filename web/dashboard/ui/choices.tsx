import { useId, type ReactNode } from 'react';
import css from './choices.module.css';

interface ChoicesProps<Value extends string> {
  readonly label: string;
  /** Whether the label is only for screen readers. */
  readonly isLabelHidden?: boolean;
  readonly value: Value | undefined;
  readonly options: readonly { readonly value: Value; readonly text: ReactNode; readonly detail?: ReactNode }[];
  readonly onValue: (value: Value) => void;
}

/** Radio buttons, each with room for an explanation. */
export function Choices<Value extends string>({
  label,
  isLabelHidden = false,
  value,
  options,
  onValue,
}: ChoicesProps<Value>) {
  const name = useId();
  return (
    <fieldset className={css.choices}>
      <legend className={isLabelHidden ? 'unseen' : css.legend}>{label}</legend>
      {options.map((option) => (
        <label key={option.value}>
          <input type="radio" name={name} checked={option.value === value} onChange={() => onValue(option.value)} />
          <span>{option.text}</span>
          {option.detail === undefined ? null : <small>{option.detail}</small>}
        </label>
      ))}
    </fieldset>
  );
}

interface ChecksProps<Value extends string> {
  readonly label: string;
  readonly chosen: readonly Value[];
  readonly options: readonly { readonly value: Value; readonly text: ReactNode; readonly detail?: ReactNode }[];
  readonly onChosen: (chosen: readonly Value[]) => void;
}

/** Checkboxes, each with room for an explanation. */
export function Checks<Value extends string>({ label, chosen, options, onChosen }: ChecksProps<Value>) {
  return (
    <fieldset className={css.choices}>
      <legend className={css.legend}>{label}</legend>
      {options.map(({ value, text, detail }) => (
        <label key={value}>
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={({ currentTarget: { checked } }) =>
              onChosen(
                options.flatMap((one) =>
                  (one.value === value ? checked : chosen.includes(one.value)) ? [one.value] : [],
                ),
              )
            }
          />
          <span>{text}</span>
          {detail === undefined ? null : <small>{detail}</small>}
        </label>
      ))}
    </fieldset>
  );
}
