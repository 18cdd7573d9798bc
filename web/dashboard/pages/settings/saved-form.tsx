import type { UseQueryResult } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Problem } from '../../ui/notice.tsx';
import { NotLoaded } from '../../ui/placeholder.tsx';
import css from './settings.module.css';

interface SavedCardProps<Saved> {
  readonly title: string;
  readonly query: UseQueryResult<Saved>;
  /** The form, once the saved settings are there. */
  readonly form: (saved: Saved) => ReactNode;
}

/** Settings that are loaded and saved by themselves. */
export function SavedCard<Saved>({ title, query, form }: SavedCardProps<Saved>) {
  return (
    <Card title={title}>{query.data === undefined ? <NotLoaded query={query} rows={3} /> : form(query.data)}</Card>
  );
}

interface SaveButtonProps {
  readonly save: { readonly error: unknown; readonly isPending: boolean };
  /** The server's names of the fields that show their own errors. */
  readonly fields: readonly string[];
  readonly text: string;
}

/** Saves the form, below the error of the last time that it was saved. */
export function SaveButton({ save, fields, text }: SaveButtonProps) {
  return (
    <>
      <Problem error={save.error} fields={fields} />
      <div className={css.buttons}>
        <Button kind="primary" type="submit" busy={save.isPending}>
          {text}
        </Button>
      </div>
    </>
  );
}

/** The edit of saved settings: typed fields precede the saved ones. */
export function useTyped<Fields extends object>(saved: Fields) {
  const [typed, setTyped] = useState<Partial<Fields>>({});
  const fields = { ...saved, ...typed };
  return {
    fields,
    isDirty: JSON.stringify(fields) !== JSON.stringify(saved),
    set: (change: Partial<Fields>): void => setTyped((before) => ({ ...before, ...change })),
    forget: (): void => setTyped({}),
  };
}
