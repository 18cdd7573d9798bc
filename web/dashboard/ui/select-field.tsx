import { useId } from 'react';
import { Labelled, Select } from './field.tsx';

interface SelectFieldProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onValue: (value: string) => void;
}

/** The native select as a labelled field of a form. */
export function SelectField({ label, ...rest }: SelectFieldProps) {
  const id = useId();
  return (
    <Labelled id={id} label={label}>
      <Select {...rest} id={id} label={label} />
    </Labelled>
  );
}
