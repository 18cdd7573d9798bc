import { useLocale } from '../../locale.tsx';
import { problemText } from '../../problem.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';

interface FailedProps {
  /** The part of a query's result that says why nothing is there yet. */
  readonly query: { readonly isPending: boolean; readonly error: unknown; readonly refetch: () => unknown };
  readonly rows: number;
}

/** Stands where a list is loading or could not be loaded. */
export function Failed({ query, rows }: FailedProps) {
  const { t } = useLocale();
  if (query.isPending) return <SkeletonRows count={rows} />;
  return (
    <Empty icon="warning" title={t('fault_title')} text={problemText(query.error, t)}>
      <Button onClick={() => void query.refetch()}>{t('try_again')}</Button>
    </Empty>
  );
}
