import { useLocale } from '../locale.tsx';
import { classNames } from './class-names.ts';
import css from './skeleton.module.css';

interface SkeletonProps {
  readonly kind?: 'line' | 'tall' | 'block';
  /** Of four widths, so that lines do not look like a wall. */
  readonly width?: 0 | 1 | 2 | 3;
}

/** The place of what is on its way. */
export function Skeleton({ kind = 'line', width = 0 }: SkeletonProps) {
  return <span className={classNames(css.line, kind !== 'line' && css[kind], css[`w${width}`])} aria-hidden="true" />;
}

/** The place of a list. */
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
