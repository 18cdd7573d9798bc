import { useId, type ComponentProps, type ReactNode } from 'react';
import { classNames } from './class-names.ts';
import { Below, describedBy } from './field.tsx';
import css from './field.module.css';

interface TextAreaProps extends Omit<ComponentProps<'textarea'>, 'id' | 'value' | 'onChange'> {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: ReactNode;
  /** What is wrong with the input, as a sentence. */
  readonly problem?: string | null | undefined;
  /** Whether the label is only for screen readers. */
  readonly isLabelHidden?: boolean;
}

/** A labelled field for several lines. It takes any length, so that a long paste is not cut off unnoticed. */
export function TextArea({ label, hint, problem = null, isLabelHidden = false, onValue, ...rest }: TextAreaProps) {
  const id = useId();
  return (
    <div className={css.field}>
      <label className={isLabelHidden ? 'unseen' : css.label} htmlFor={id}>
        {label}
      </label>
      <textarea
        rows={2}
        {...rest}
        {...describedBy(id, hint, problem)}
        id={id}
        onChange={(event) => onValue(event.currentTarget.value)}
        className={classNames(css.input, css.lines)}
      />
      <Below id={id} hint={hint} problem={problem} />
    </div>
  );
}
