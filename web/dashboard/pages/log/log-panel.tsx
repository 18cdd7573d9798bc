import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useRef, type ReactNode } from 'react';
import { IconButton } from '../../ui/button.tsx';
import { isPlainKey, isWide } from '../../ui/keys.ts';
import { Loaded } from '../../ui/placeholder.tsx';
import { Link } from '@tanstack/react-router';
import { useLocale } from '../../locale.tsx';
import css from './log.module.css';
import { CopyButton } from '../../ui/value.tsx';
import { useScope } from '../../scope.ts';

interface LogPanelProps<Record> {
  readonly title: string;
  /** The query of the record. */
  readonly found: UseQueryResult<Record>;
  readonly onClose: () => void;
  readonly children: (record: Record) => ReactNode;
}

/** The panel of a record that is loaded. Escape closes it. */
export function LogPanel<Record>({ title, found, onClose, children }: LogPanelProps<Record>) {
  const { t } = useLocale();
  const frame = useRef<HTMLElement>(null);
  useEffect(() => {
    // If the panel replaces the list, it may begin below the visible part.
    if (!isWide()) frame.current?.scrollIntoView({ block: 'start' });
  }, []);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && isPlainKey(event) && document.querySelector('[role=dialog]') === null) onClose();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [onClose]);
  return (
    <aside ref={frame} className={css.panel} aria-label={title} tabIndex={-1}>
      <div className={css.head}>
        <h2>{title}</h2>
        <IconButton icon="close" small label={t('close')} onClick={onClose} />
      </div>
      <Loaded query={found} rows={6}>
        {(record) => <div className={css.body}>{children(record)}</div>}
      </Loaded>
    </aside>
  );
}

/** A link to a payment; without a name it says the id. */
export function PaymentLink({ payment, name }: { readonly payment: string; readonly name: string | null }) {
  return (
    <Link to="/projects/$project/$mode/payments/$payment" params={{ ...useScope(), payment }}>
      {name ?? payment}
    </Link>
  );
}

interface CodeBlockProps {
  readonly title: string;
  /** Shown unchanged, never as markup. */
  readonly text: string;
  /** The name of the copied text, for the button. */
  readonly what: string;
}

/** A text of a program: a body, or code. */
export function CodeBlock({ title, text, what }: CodeBlockProps) {
  const { t } = useLocale();
  return (
    <div className={css.block}>
      <div className={css.blockHead}>
        <h3>{title}</h3>
        <CopyButton text={text}>{t('copy_what', { what })}</CopyButton>
      </div>
      <pre className={css.code} tabIndex={0} aria-label={title}>
        {text}
      </pre>
    </div>
  );
}

/** A part of a panel under a heading. */
export function Block({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className={css.block}>
      <div className={css.blockHead}>
        <h3>{title}</h3>
      </div>
      {children}
    </div>
  );
}

interface HeaderListProps {
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** HTTP headers, always as text. */
export function HeaderList({ title, headers }: HeaderListProps) {
  return (
    <Block title={title}>
      <dl className={css.headers}>
        {Object.entries(headers).map(([name, value]) => (
          <div key={name} className={css.header}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Block>
  );
}
