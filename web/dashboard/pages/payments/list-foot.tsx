import { useLocale } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import css from './payments-page.module.css';

interface ListFootProps {
  /** The part of `useInfiniteQuery`'s result that it needs. */
  readonly list: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
}

/** The end of a list: the way to more, or that there is none. */
export function ListFoot({ list }: ListFootProps) {
  const { t } = useLocale();
  return (
    <div className={css.foot}>
      {list.hasNextPage ? (
        <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t('show_more')}
        </Button>
      ) : (
        t('list_end')
      )}
    </div>
  );
}
