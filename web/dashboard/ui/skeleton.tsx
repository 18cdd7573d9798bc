import { useLocale } from '../locale.tsx';
import { classNames } from './class-names.ts';
import css from './skeleton.module.css';

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
