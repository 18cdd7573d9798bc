import type { ReactNode } from 'react';
import { useLocale } from '../locale.tsx';
import { problemOf } from '../problem.ts';
import { Field } from './field.tsx';

interface NameFieldProps {
  readonly value: string;
  /** The server's error of the last attempt. */
  readonly fault: unknown;
  readonly hint?: ReactNode;
  readonly onValue: (name: string) => void;
}

/** The server's limit. */
const MAX_NAME = 100;

/** What somebody calls a thing that they make. */
export function NameField({ value, fault, hint, onValue }: NameFieldProps) {
  const { t } = useLocale();
  return (
    <Field
      required
      autoComplete="off"
      max={MAX_NAME}
      label={t('name')}
      hint={hint}
      value={value}
      problem={problemOf(fault, 'name')}
      onValue={onValue}
    />
  );
}
