import { useEffect, useRef, type ReactNode } from 'react';
import { useDashboard } from '../dashboard.ts';
import css from './form.module.css';

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
