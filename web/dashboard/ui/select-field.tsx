import type { ComponentProps } from 'react';
import { Select } from './field.tsx';
import css from './field.module.css';

/** The native select as a labelled field of a form. */
export function SelectField(props: ComponentProps<typeof Select>) {
  return (
    <label className={css.field}>
      <span className={css.label}>{props.label}</span>
      <Select {...props} />
    </label>
  );
}
