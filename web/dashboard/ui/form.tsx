import { useEffect, useRef, type ReactNode } from 'react';
import { useDashboard } from '../dashboard.ts';
import css from './form.module.css';

interface FormProps {
  /** Whether it holds what would be lost with it; leaving the page then asks first. */
  readonly isDirty?: boolean;
  /** What the server said against it the last time. */
  readonly fault?: unknown;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}

/** A form that the browser checks first. What the server finds is shown at its field, which gets the focus. */
export function Form({ isDirty = false, fault = null, onSubmit, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
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
      ref={form}
      className={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
