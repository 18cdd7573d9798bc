import type { ReactNode } from 'react';
import css from './placeholder.module.css';
import { Icon, type IconName } from './icons.tsx';
import { useLocale } from '../locale.tsx';
import { classNames } from './class-names.ts';
import { ApiFault } from '../api.ts';
import { loadProblemText } from '../problem.ts';
import { Button } from './button.tsx';

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly text?: ReactNode;
  /** The way out. */
  readonly children?: ReactNode;
}

/** Shown instead of an empty list: why it is empty, and the way out. */
export function Empty({ icon, title, text, children }: EmptyProps) {
  return (
    <div className={css.empty}>
      <span className={css.picture}>
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      {text === undefined ? null : <div className={css.text}>{text}</div>}
      {children === undefined ? null : <div className={css.actions}>{children}</div>}
    </div>
  );
}

interface SkeletonProps {
  readonly kind?: 'line' | 'tall' | 'block';
  /** One of four widths, so that lines look like text. */
  readonly width?: 0 | 1 | 2 | 3;
}

/** A placeholder for content that is loading. */
export function Skeleton({ kind = 'line', width = 0 }: SkeletonProps) {
  return <span className={classNames(css.line, kind !== 'line' && css[kind], css[`w${width}`])} aria-hidden="true" />;
}

/** A placeholder for a list. */
export function SkeletonRows({ count }: { readonly count: number }) {
  const { t } = useLocale();
  return (
    <div className={css.rows} role="status">
      <span className="unseen">{t('loading')}</span>
      {Array.from({ length: count }, (_, index) => (
        <Skeleton key={index} width={([3, 1, 0, 2] as const)[index % 4] ?? 0} />
      ))}
    </div>
  );
}

interface NotLoadedProps {
  /** The part of a query's result that says why nothing is there yet. */
  readonly query: { readonly isPending: boolean; readonly error: unknown; readonly refetch: () => unknown };
  /** How many placeholder rows are shown while it is loading. */
  readonly rows: number;
}

/** Shown while data is loading or could not be loaded. */
export function NotLoaded({ query, rows }: NotLoadedProps) {
  const { t } = useLocale();
  if (query.isPending) return <SkeletonRows count={rows} />;
  const isMissing = query.error instanceof ApiFault && query.error.status === 404;
  return (
    <Empty icon="warning" title={t('not_loaded_title')} text={loadProblemText(query.error, t)}>
      {isMissing ? undefined : <Button onClick={() => void query.refetch()}>{t('try_again')}</Button>}
    </Empty>
  );
}

interface LoadedProps<Data> extends NotLoadedProps {
  readonly query: NotLoadedProps['query'] & { readonly data: Data | undefined };
  readonly children: (data: Data) => ReactNode;
}

/** The data of a query, once it is there. */
export function Loaded<Data>({ query, rows, children }: LoadedProps<Data>) {
  return query.data === undefined ? <NotLoaded query={query} rows={rows} /> : children(query.data);
}
